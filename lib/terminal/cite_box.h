// A citation as a person sees it.
#pragma once

#include <string>
#include <string_view>

#include "model/event.h"
#include "terminal/style.h"

namespace stoka::terminal {

// Lines joined by '\n', without one at the end. On a terminal of at least 30 columns a frame, at
// most 72 columns wide:
//   ┌─ cite 1 ─────────────────────────────┐
//   │ The Philosophy of Bounded Execution  │
//   │ "Autonomy without constraint is just │
//   │  chaos with better marketing."       │
//   │ philosophy · 8 min read · Apr 12     │
//   └──────────────────────────────────────┘
// On a narrower one the same lines without the frame, the number before the title: "[1] The …".
// With a number of 0 there is none, and on a terminal the address follows as a line of its own that
// is never broken, so that it can be copied. Where there is no terminal, for pipes and TERM=dumb, a
// block quote that is never wrapped, with the address as its last line:
//   > The Philosophy of Bounded Execution
//   > "Autonomy without constraint is just chaos with better marketing."
//   > philosophy · 8 min read · Apr 12
//   > https://example.org/blog/bounded-execution
// What a citation lacks is left out; a missing title is replaced by the slug. The title is a link
// where the terminal draws links.
std::string cite_box(const Citation& citation, const Capabilities& capabilities, size_t number = 0);

// Where the citation is, as one printable line: its URL, or a path without its text fragment, which
// only a browser can use; empty if there is none that may be shown.
std::string cite_address(const Citation& citation);

// "philosophy · 8 min read · Apr 12"; " - " instead of the dots without unicode.
std::string cite_meta(const Citation& citation, const Capabilities& capabilities);

}  // namespace stoka::terminal
