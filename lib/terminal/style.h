// The capabilities of a terminal, and the text styles that stoka uses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoka::terminal {

enum class ColorMode { automatic, always, never };

// The environment variables that describe a terminal. An unset variable is an empty string. The
// program fills in the members; the code in lib/terminal does not read the environment.
struct Environment {
  std::string term;                  // the value of TERM
  std::string no_color;              // the value of NO_COLOR
  std::string colorterm;             // the value of COLORTERM
  std::string clicolor_force;        // the value of CLICOLOR_FORCE
  std::string force_color;           // the value of FORCE_COLOR
  std::string columns;               // the value of COLUMNS
  std::string lc_all;                // the value of LC_ALL
  std::string lc_ctype;              // the value of LC_CTYPE
  std::string lang;                  // the value of LANG
  std::string term_program;          // the value of TERM_PROGRAM
  std::string term_program_version;  // the value of TERM_PROGRAM_VERSION
  std::string vte_version;           // the value of VTE_VERSION
  std::string kitty_window_id;       // the value of KITTY_WINDOW_ID
  std::string konsole_version;       // the value of KONSOLE_VERSION
  std::string wt_session;            // the value of WT_SESSION
};

struct Capabilities {
  bool color = false;
  bool unicode = true;  // frames and separators may be non-ASCII; content is UTF-8 in either case
  bool hyperlinks = false;  // hyperlinks by OSC 8 escape sequences are supported
  int columns = 80;
  bool tty = false;  // the stream is a terminal that can move its cursor; false for TERM=dumb
};

// The capabilities of one stream; stdout and stderr can differ. Colour is off for a pipe, TERM=dumb
// and NO_COLOR. CLICOLOR_FORCE and FORCE_COLOR turn it on unless NO_COLOR is set; `mode` overrides
// all variables. Output to a pipe always uses Unicode, so that it does not depend on the locale.
// Hyperlinks need colour and a terminal that is known to support them.
Capabilities detect(const Environment& environment, bool is_tty, std::optional<int> tty_columns,
                    ColorMode mode);

enum class Style {
  title,  // the style of titles: green, bold
  quote,  // the style of quotes: dim, italic
  meta,   // the style of dates and the like: grey
  error,  // the style of errors: red
  dim,
};

// The text in the given style, with a reset at the end; unchanged without colour.
std::string paint(Style style, std::string_view text, const Capabilities& capabilities);

// One line without anything that could control a terminal: the result of text::one_line, without
// bidirectional controls and Unicode line separators. All untrusted text must pass through this
// function before it is printed.
std::string sanitize_line(std::string_view untrusted);

// The text as an OSC 8 hyperlink. Returns the text unchanged if the terminal does not support
// hyperlinks or if the address is not a safe http or https URL (see base/link.h).
std::string link(std::string_view text, std::string_view address, const Capabilities& capabilities);

}  // namespace stoka::terminal
