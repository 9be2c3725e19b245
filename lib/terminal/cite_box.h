// Formats a citation for a terminal or a pipe.
#pragma once

#include <string>
#include <string_view>

#include "model/event.h"
#include "terminal/style.h"

namespace stoka::terminal {

// Returns lines joined by '\n', without a final line break. A terminal of at least 30 columns gets
// a frame that is at most 72 columns wide:
//   ┌─ cite 1 ─────────────────────────────┐
//   │ The Philosophy of Bounded Execution  │
//   │ "Autonomy without constraint is just │
//   │  chaos with better marketing."       │
//   │ philosophy · 8 min read · Apr 12     │
//   └──────────────────────────────────────┘
// A narrower terminal gets the same lines without the frame, and the number before the title:
// "[1] The …". If `number` is 0, no number is shown, and on a terminal the address follows on a
// line of its own, which is not wrapped, so that it can be copied. Pipes and TERM=dumb get a block
// quote, which is not wrapped and ends with the address:
//   > The Philosophy of Bounded Execution
//   > "Autonomy without constraint is just chaos with better marketing."
//   > philosophy · 8 min read · Apr 12
//   > https://example.org/blog/bounded-execution
// Empty fields are left out; an empty title is replaced by the slug. The title is a hyperlink if
// the terminal supports hyperlinks.
std::string cite_box(const Citation& citation, const Capabilities& capabilities, size_t number = 0);

// The address of the citation as one printable line: its URL, or its path without the text
// fragment, which only a browser can use. Empty if the address may not be shown.
std::string cite_address(const Citation& citation);

// Returns a line such as "philosophy · 8 min read · Apr 12"; without `unicode` dots become " - ".
std::string cite_meta(const Citation& citation, const Capabilities& capabilities);

}  // namespace stoka::terminal
