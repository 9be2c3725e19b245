// What the terminal can show, and the few looks that stoka uses on it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoka::terminal {

enum class ColorMode { automatic, always, never };

// The variables that say what a terminal is. Unset and empty are the same. The app fills it.
struct Environment {
  std::string term;                  // TERM
  std::string no_color;              // NO_COLOR
  std::string colorterm;             // COLORTERM
  std::string clicolor_force;        // CLICOLOR_FORCE
  std::string force_color;           // FORCE_COLOR
  std::string columns;               // COLUMNS
  std::string lc_all;                // LC_ALL
  std::string lc_ctype;              // LC_CTYPE
  std::string lang;                  // LANG
  std::string term_program;          // TERM_PROGRAM
  std::string term_program_version;  // TERM_PROGRAM_VERSION
  std::string vte_version;           // VTE_VERSION
  std::string kitty_window_id;       // KITTY_WINDOW_ID
  std::string konsole_version;       // KONSOLE_VERSION
  std::string wt_session;            // WT_SESSION
};

struct Capabilities {
  bool color = false;
  bool unicode = true;      // frames and separators beyond ASCII; content is UTF-8 either way
  bool hyperlinks = false;  // OSC 8
  int columns = 80;
  bool tty = false;  // lines are wrapped, boxes drawn, the cursor may move; false for TERM=dumb
};

// One stream's capabilities: call it for stdout and for stderr. A pipe, TERM=dumb and NO_COLOR have
// no colour unless it is forced by CLICOLOR_FORCE or FORCE_COLOR (which NO_COLOR outranks) or by
// the mode, which outranks all. A pipe is never narrowed to ASCII, so that its bytes do not depend
// on the locale. Links only where colour is on and the terminal is known to draw them.
Capabilities detect(const Environment& environment, bool is_tty, std::optional<int> tty_columns,
                    ColorMode mode);

enum class Look {
  title,  // green, bold
  quote,  // dim, italic
  meta,   // grey
  error,  // red
  dim,
};

// The text in its look, reset at the end; unchanged without colour.
std::string paint(Look look, std::string_view text, const Capabilities& capabilities);

// One line that cannot command a terminal: text::one_line, and bidirectional controls and the
// Unicode line separators removed. Whatever comes from outside passes here before it is printed.
std::string printable(std::string_view untrusted);

// The text as an OSC 8 link, always closed. Unchanged where the terminal draws no links, and for an
// address that is no http or https URL that may be linked (see base/link.h).
std::string link(std::string_view text, std::string_view address, const Capabilities& capabilities);

}  // namespace stoka::terminal
