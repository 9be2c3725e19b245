#include "terminal/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "base/ascii.h"
#include "base/url.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::terminal {
namespace {

constexpr int kDefaultColumns = 80;

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

bool is_on(std::string_view variable) { return !variable.empty() && variable != "0"; }

bool is_utf8_locale(const Environment& environment) {
  const std::string& locale = !environment.lc_all.empty()     ? environment.lc_all
                              : !environment.lc_ctype.empty() ? environment.lc_ctype
                                                              : environment.lang;
  std::string folded;
  for (const char c : locale) {
    if (c != '-') folded += to_lower(c);
  }
  return folded.find("utf8") != std::string::npos;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [text](std::string_view prefix) { return text.starts_with(prefix); });
}

// tmux supports hyperlinks since version 3.4. Versions look like "3.4", "3.4a" or "next-3.5".
bool tmux_supports_links(std::string_view version) {
  if (version.starts_with("next-")) version.remove_prefix(5);
  const size_t dot = version.find('.');
  const auto major = number(version);
  if (!major) return false;
  const auto minor =
      dot == std::string_view::npos ? std::optional<int>() : number(version.substr(dot + 1));
  return *major > 3 || (*major == 3 && minor.value_or(0) >= 4);
}

bool supports_links(const Environment& environment) {
  // Inside a multiplexer the variables of the outer terminal are still set, but the multiplexer
  // decides whether links work.
  if (starts_with_any(environment.term, {"screen", "tmux"})) {
    return environment.term_program == "tmux" &&
           tmux_supports_links(environment.term_program_version);
  }
  if (environment.term == "linux") return false;
  if (number(environment.vte_version).value_or(0) >= 5000) return true;
  if (!environment.kitty_window_id.empty() || !environment.wt_session.empty() ||
      !environment.konsole_version.empty()) {
    return true;
  }
  const std::string& program = environment.term_program;
  return program == "iTerm.app" || program == "WezTerm" || program == "vscode" ||
         program == "ghostty" || program == "Hyper" ||
         starts_with_any(environment.term,
                         {"xterm-kitty", "foot", "alacritty", "xterm-ghostty", "wezterm"});
}

bool is_bidi_control_or_line_separator(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

std::string_view code(Style style) {
  switch (style) {
    case Style::title:
      return "\x1b[1;32m";
    case Style::quote:
      return "\x1b[2;3m";
    case Style::meta:
      return "\x1b[90m";
    case Style::error:
      return "\x1b[31m";
    case Style::dim:
      return "\x1b[2m";
  }
  return "";
}

}  // namespace

Capabilities detect(const Environment& environment, bool is_tty, std::optional<int> tty_columns,
                    ColorMode mode) {
  Capabilities out;
  const bool dumb =
      environment.term == "dumb" || (environment.term.empty() && environment.colorterm.empty());
  out.tty = is_tty && !dumb;
  out.unicode = !is_tty || is_utf8_locale(environment);
  out.columns =
      tty_columns && *tty_columns > 0 ? *tty_columns : number(environment.columns).value_or(0);
  if (out.columns <= 0) out.columns = kDefaultColumns;
  if (mode == ColorMode::automatic) {
    const bool forced = is_on(environment.clicolor_force) || is_on(environment.force_color);
    out.color = environment.no_color.empty() && (forced || out.tty);
  } else {
    out.color = mode == ColorMode::always;
  }
  out.hyperlinks = out.tty && out.color && supports_links(environment);
  return out;
}

std::string paint(Style style, std::string_view text, const Capabilities& capabilities) {
  if (!capabilities.color || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", code(style), text);
}

std::string sanitize_line(std::string_view untrusted) {
  const std::string line = text::one_line(untrusted);
  std::string out;
  out.reserve(line.size());
  for (size_t at = 0; at < line.size();) {
    const size_t begin = at;
    const char32_t c = text::next_code_point(line, at);
    if (!is_bidi_control_or_line_separator(c)) out.append(line, begin, at - begin);
  }
  return out;
}

std::string link(std::string_view text, std::string_view address,
                 const Capabilities& capabilities) {
  const std::string target = is_http_url(address) ? safe_link(address, {}) : "";
  if (!capabilities.hyperlinks || target.empty() || text.empty()) return std::string(text);
  return fmt::format("\x1b]8;;{}\x1b\\{}\x1b]8;;\x1b\\", target, text);
}

}  // namespace stoka::terminal
