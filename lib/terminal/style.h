// The capabilities of a terminal, and the text styles that stoka uses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoka::terminal {

enum class ColorMode { automatic, always, never };

// The environment variables that describe a terminal. An unset variable is an empty string. The
// program fills it in; this room does not read the environment.
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
  bool unicode = true;      // non-ASCII frames and separators; content is UTF-8 in either case
  bool hyperlinks = false;  // OSC 8
  int columns = 80;
  bool tty = false;  // wrap lines, draw boxes, move the cursor; false for TERM=dumb
};

// The capabilities of one stream; stdout and stderr can differ. Colour is off for a pipe, TERM=dumb
// and NO_COLOR. CLICOLOR_FORCE and FORCE_COLOR turn it on unless NO_COLOR is set; `mode` overrides
// all variables. Output to a pipe always uses Unicode, so that it does not depend on the locale.
// Hyperlinks need colour and a terminal that is known to support them.
Capabilities detect(const Environment& environment, bool is_tty, std::optional<int> tty_columns,
                    ColorMode mode);

enum class Style {
  title,  // green, bold
  quote,  // dim, italic
  meta,   // grey
  error,  // red
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
