#include "terminal/style.h"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

namespace stoka::terminal::style_test {
namespace {

Environment xterm() {
  Environment out;
  out.term = "xterm-256color";
  out.lang = "en_US.UTF-8";
  return out;
}

Environment with(const std::function<void(Environment&)>& change) {
  Environment out = xterm();
  change(out);
  return out;
}

TEST_CASE("colour depends on the stream and the variables unless the mode decides") {
  struct Case {
    const char* what;
    Environment environment;
    bool is_tty;
    ColorMode mode;
    bool color;
  };
  const auto automatic = ColorMode::automatic;
  const std::vector<Case> cases = {
      {"a terminal", xterm(), true, automatic, true},
      {"a pipe", xterm(), false, automatic, false},
      {"never", xterm(), true, ColorMode::never, false},
      {"always into a pipe", xterm(), false, ColorMode::always, true},
      {"NO_COLOR", with([](auto& e) { e.no_color = "1"; }), true, automatic, false},
      {"empty NO_COLOR", with([](auto& e) { e.no_color = ""; }), true, automatic, true},
      {"NO_COLOR, but always", with([](auto& e) { e.no_color = "1"; }), true, ColorMode::always,
       true},
      {"dumb", with([](auto& e) { e.term = "dumb"; }), true, automatic, false},
      {"no TERM", with([](auto& e) { e.term = ""; }), true, automatic, false},
      {"FORCE_COLOR into a pipe", with([](auto& e) { e.force_color = "1"; }), false, automatic,
       true},
      {"FORCE_COLOR=0", with([](auto& e) { e.force_color = "0"; }), false, automatic, false},
      {"CLICOLOR_FORCE", with([](auto& e) { e.clicolor_force = "1"; }), false, automatic, true},
      {"NO_COLOR outranks FORCE_COLOR", with([](auto& e) { e.no_color = e.force_color = "1"; }),
       true, automatic, false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(detect(c.environment, c.is_tty, 80, c.mode).color == c.color);
  }
}

TEST_CASE("TERM=dumb is treated like a pipe") {
  const auto dumb = with([](auto& e) { e.term = "dumb"; });
  CHECK_FALSE(detect(dumb, true, 80, ColorMode::automatic).tty);
  CHECK(detect(xterm(), true, 80, ColorMode::automatic).tty);
  CHECK_FALSE(detect(xterm(), false, 80, ColorMode::automatic).tty);
}

TEST_CASE("the width comes from the terminal, then from COLUMNS, then it is 80") {
  const auto columns = [](std::string variable, std::optional<int> tty) {
    const auto environment = with([&](auto& e) { e.columns = variable; });
    return detect(environment, true, tty, ColorMode::automatic).columns;
  };
  CHECK(columns("100", 40) == 40);
  CHECK(columns("100", std::nullopt) == 100);
  CHECK(columns("100", 0) == 100);
  CHECK(columns("", std::nullopt) == 80);
  CHECK(columns("wide", std::nullopt) == 80);
  CHECK(columns("-5", std::nullopt) == 80);
  CHECK(columns("99999999999999999999", std::nullopt) == 80);
}

TEST_CASE("a terminal gets unicode only in a UTF-8 locale; LC_ALL precedes LC_CTYPE and LANG") {
  const auto unicode = [](std::string all, std::string ctype, std::string lang, bool tty) {
    const auto environment = with([&](auto& e) {
      e.lc_all = all;
      e.lc_ctype = ctype;
      e.lang = lang;
    });
    return detect(environment, tty, 80, ColorMode::automatic).unicode;
  };
  CHECK(unicode("", "", "de_DE.utf8", true));
  CHECK(unicode("", "C.UTF-8", "C", true));
  CHECK_FALSE(unicode("C", "C.UTF-8", "C.UTF-8", true));
  CHECK_FALSE(unicode("", "", "", true));
  CHECK_FALSE(unicode("", "", "de_DE.ISO-8859-1", true));
  CHECK(unicode("C", "", "", false));
}

TEST_CASE("hyperlinks are on only for terminals that are known to support them") {
  struct Case {
    const char* what;
    Environment environment;
    bool links;
  };
  const std::vector<Case> cases = {
      {"unknown", xterm(), false},
      {"VTE", with([](auto& e) { e.vte_version = "6800"; }), true},
      {"old VTE", with([](auto& e) { e.vte_version = "4602"; }), false},
      {"kitty", with([](auto& e) { e.term = "xterm-kitty"; }), true},
      {"WezTerm", with([](auto& e) { e.term_program = "WezTerm"; }), true},
      {"Windows Terminal", with([](auto& e) { e.wt_session = "x"; }), true},
      {"foot", with([](auto& e) { e.term = "foot-extra"; }), true},
      {"screen inside VTE", with([](auto& e) {
         e.term = "screen-256color";
         e.vte_version = "6800";
       }),
       false},
      {"tmux 3.4", with([](auto& e) {
         e.term = "tmux-256color";
         e.term_program = "tmux";
         e.term_program_version = "3.4";
       }),
       true},
      {"tmux 3.3a", with([](auto& e) {
         e.term = "tmux-256color";
         e.term_program = "tmux";
         e.term_program_version = "3.3a";
       }),
       false},
      {"the console", with([](auto& e) { e.term = "linux"; }), false},
      {"VTE without colour", with([](auto& e) {
         e.vte_version = "6800";
         e.no_color = "1";
       }),
       false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(detect(c.environment, true, 80, ColorMode::automatic).hyperlinks == c.links);
  }
}

TEST_CASE("paint() adds the style and a reset, and nothing if colour is off") {
  Capabilities capabilities;
  CHECK(paint(Style::title, "x", capabilities) == "x");
  capabilities.color = true;
  CHECK(paint(Style::title, "x", capabilities) == "\x1b[1;32mx\x1b[0m");
  CHECK(paint(Style::quote, "x", capabilities) == "\x1b[2;3mx\x1b[0m");
  CHECK(paint(Style::error, "", capabilities) == "");
}

TEST_CASE("sanitize_line() removes everything that could control a terminal") {
  CHECK(sanitize_line("a\x1b]0;title\x07"
                      "b\nc") == "a ]0;title b c");
  CHECK(sanitize_line("\xc2\x9b"
                      "31m") == " 31m");
  CHECK(sanitize_line("safe\u202Eexe.txt\u2069") == "safeexe.txt");
  CHECK(sanitize_line("a\xff"
                      "b") == "a\uFFFDb");
  CHECK(sanitize_line("cafe\u0301 日本語") == "cafe\u0301 日本語");
}

TEST_CASE("link() closes the hyperlink and refuses unsafe addresses") {
  Capabilities capabilities;
  CHECK(link("x", "https://a.test", capabilities) == "x");
  capabilities.hyperlinks = true;
  CHECK(link("x", "https://a.test", capabilities) == "\x1b]8;;https://a.test\x1b\\x\x1b]8;;\x1b\\");
  for (const char* address : {"", "/blog/x", "javascript:alert(1)", "https://a.test/\x1b\\b"}) {
    CAPTURE(std::string(address));
    CHECK(link("x", address, capabilities) == "x");
  }
  CHECK(link("x", "https://a.test/caf\u00e9 x", capabilities) ==
        "\x1b]8;;https://a.test/caf%C3%A9%20x\x1b\\x\x1b]8;;\x1b\\");
}

}  // namespace
}  // namespace stoka::terminal::style_test
