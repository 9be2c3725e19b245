// A citation as a person sees it.
#pragma once

#include <string>
#include <string_view>

#include "model/event.h"
#include "terminal/style.h"

namespace stoka::terminal {

// Lines joined by '\n', without one at the end. On a terminal of at least 30 columns a frame, at
// most 72 columns wide:
//   ┌─ cite ───────────────────────────────┐
//   │ The Philosophy of Bounded Execution  │
//   │ "Autonomy without constraint is just │
//   │  chaos with better marketing."       │
//   │ philosophy · 8 min read · Apr 12     │
//   └──────────────────────────────────────┘
// On a narrower one the same lines without the frame. Where there is no terminal, for pipes and
// TERM=dumb, a block quote that is never wrapped, with the page (below `site` if that is known) as
// its last line:
//   > The Philosophy of Bounded Execution
//   > "Autonomy without constraint is just chaos with better marketing."
//   > philosophy · 8 min read · Apr 12
//   > https://example.org/blog/bounded-execution
// What a citation lacks is left out; a missing title is replaced by the slug. The title is a link
// where the terminal draws links and link_target() finds one.
std::string cite_box(const Citation& citation, const Capabilities& capabilities,
                     std::string_view site = {});

// "philosophy · 8 min read · Apr 12"; " - " instead of the dots without unicode.
std::string cite_meta(const Citation& citation, const Capabilities& capabilities);

}  // namespace stoka::terminal
