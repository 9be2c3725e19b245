#include "terminal/answer_printer.h"

#include <doctest/doctest.h>

#include "terminal/screen.h"
#include "text/width.h"

namespace stoka::terminal::answer_printer_test {

using namespace stoka::testing;

namespace {

Citation essay() {
  Citation out;
  out.slug = "essay";
  out.title = "Essay";
  out.quote = "Said.";
  out.type = "blog";
  return out;
}

std::string drawn(const std::vector<Event>& events, const Capabilities& capabilities) {
  std::string out;
  AnswerPrinter printer([&](std::string_view text) { out += text; }, capabilities);
  for (const Event& event : events) printer.handle(event);
  printer.finish();
  return out;
}

TEST_CASE("text is wrapped at words on a terminal and is not wrapped elsewhere") {
  struct Case {
    int columns;  // 0 if there is no terminal
    std::string text;
    std::string screen;
  };
  const std::vector<Case> cases = {
      {10, "one two three", "one two\nthree\n"},
      {10, "exactly 10 x", "exactly 10\nx\n"},
      {10, "a abcdefghijklmno b", "a\nabcdefghij\nklmno b\n"},
      {10, "日本語の文字が続く", "日本語の文\n字が続く\n"},
      {10, "ab 日本語", "ab 日本語\n"},
      {0, "one two three four five six", "one two three four five six\n"},
      {20, "  leading and  double ", "leading and double\n"},
      {20, "one\ntwo\n\n\n\nthree\n\n", "one\ntwo\n\nthree\n"},
      {0, "\n\none\r\ntwo", "one\ntwo\n"},
      {0, "a\x1b[2Jb", "a [2Jb\n"},
      {20, "cafe\u0301 cafe\u0301 cafe\u0301 abcde", "cafe\u0301 cafe\u0301 cafe\u0301 abcde\n"},
      {20, "", ""},
      {20, " \n ", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const Capabilities capabilities =
        c.columns == 0 ? Capabilities{} : terminal_of_width(c.columns);
    CHECK(drawn({TokenEvent{c.text}, DoneEvent{}}, capabilities) == c.screen);
  }
}

TEST_CASE("a terminal shows an ellipsis until the first word of the answer") {
  for (const bool tty : {true, false}) {
    std::string out;
    AnswerPrinter printer([&](std::string_view text) { out += text; },
                          tty ? terminal_of_width(20) : Capabilities{});
    printer.show_waiting();
    CHECK(out == (tty ? "…" : ""));
    printer.handle(ReadyEvent{});
    printer.handle(TokenEvent{"one "});
    CHECK(out == (tty ? "…\r\x1b[Kone" : "one"));
    printer.finish();
    CHECK(out == (tty ? "…\r\x1b[Kone\n" : "one\n"));
  }
  std::string out;
  AnswerPrinter printer([&](std::string_view text) { out += text; }, terminal_of_width(20));
  printer.show_waiting();
  printer.finish();
  CHECK(out == "…\r\x1b[K");
}

TEST_CASE("an answer that ended early is marked as cut off unless it is empty") {
  std::string out;
  AnswerPrinter printer([&](std::string_view text) { out += text; }, Capabilities{});
  printer.handle(TokenEvent{"half a"});
  printer.cut_off();
  CHECK(out == "half a [cut off]\n");
  out.clear();
  AnswerPrinter silent([&](std::string_view text) { out += text; }, Capabilities{});
  silent.cut_off();
  CHECK(out == "");
}

TEST_CASE("a blank line precedes and follows a citation") {
  CHECK(drawn({ReadyEvent{}, TokenEvent{"Before. "}, CiteEvent{essay()}, TokenEvent{" \nAfter."},
               DoneEvent{}},
              Capabilities{}) == "Before.\n\n> Essay\n> \"Said.\"\n> blog\n\nAfter.\n");
  CHECK(drawn({CiteEvent{essay()}, DoneEvent{}}, Capabilities{}) ==
        "> Essay\n> \"Said.\"\n> blog\n");
  CHECK(drawn({TokenEvent{"a\n\n"}, CiteEvent{essay()}, CiteEvent{essay()}, DoneEvent{}},
              Capabilities{}) ==
        "a\n\n> Essay\n> \"Said.\"\n> blog\n\n> Essay\n> \"Said.\"\n> blog\n");
}

TEST_CASE("citations are numbered from a given number, or show their addresses instead") {
  Citation linked = essay();
  linked.url = "https://a.test/essay";
  const auto screen = [&](size_t first) {
    std::string out;
    AnswerPrinter printer([&](std::string_view text) { out += text; }, terminal_of_width(20),
                          first);
    for (int i = 0; i < 2; ++i) printer.handle(CiteEvent{linked});
    printer.finish();
    return out;
  };
  CHECK(screen(4) == "[4] Essay\n\"Said.\"\nblog\n\n[5] Essay\n\"Said.\"\nblog\n");
  CHECK(screen(0) ==
        "Essay\n\"Said.\"\nblog\nhttps://a.test/essay\n\n"
        "Essay\n\"Said.\"\nblog\nhttps://a.test/essay\n");
}

TEST_CASE("the output does not depend on how the text is split into tokens") {
  const std::string before =
      "Bounded execution. It's not about limits: cafe\u0301 \u2014 自律のない自由は混沌だ, "
      "👩🏽‍💻 and\u00a0so\n\non averyveryverylongwordthatfitsnowhere \xe2\x82 \xf0\x9f "
      "broken\t "
      "x\n";
  const std::string after = " Seven agents ran \xe6\x97\xa5\xe6\x9c\xac in parallel\xff. ";
  for (const int columns : {0, 2, 7, 20, 40, 80}) {
    CAPTURE(columns);
    const Capabilities capabilities = columns == 0 ? Capabilities{} : terminal_of_width(columns);
    const std::string whole =
        drawn({TokenEvent{before}, CiteEvent{essay()}, TokenEvent{after}}, capabilities);
    for (size_t cut = 0; cut <= before.size(); ++cut) {
      REQUIRE(drawn({TokenEvent{before.substr(0, cut)}, TokenEvent{before.substr(cut)},
                     CiteEvent{essay()}, TokenEvent{after}},
                    capabilities) == whole);
    }
    std::vector<Event> bytes;
    for (const char c : before) bytes.push_back(TokenEvent{std::string(1, c)});
    bytes.push_back(CiteEvent{essay()});
    for (const char c : after) bytes.push_back(TokenEvent{std::string(1, c)});
    CHECK(drawn(bytes, capabilities) == whole);
    if (columns == 0) continue;
    for (const std::string& line : lines_of(whole)) {
      CAPTURE(line);
      CHECK(text::display_width(line) <= static_cast<size_t>(std::max(columns, 8)));
    }
  }
}

TEST_CASE("a word is printed as soon as it is complete") {
  std::string out;
  AnswerPrinter printer([&](std::string_view text) { out += text; }, terminal_of_width(40));
  printer.handle(TokenEvent{"hel"});
  CHECK(out.empty());
  printer.handle(TokenEvent{"lo wor"});
  CHECK(out == "hello");
  printer.handle(TokenEvent{"ld\nx"});
  CHECK(out == "hello world");
}

TEST_CASE("a very long word is printed in parts") {
  std::string out;
  AnswerPrinter printer([&](std::string_view text) { out += text; }, terminal_of_width(40));
  printer.handle(TokenEvent{std::string(10000, 'x')});
  CHECK(out.size() > 5000);
}

TEST_CASE("a resize changes the width of the following lines") {
  std::string out;
  AnswerPrinter printer([&](std::string_view text) { out += text; }, terminal_of_width(20));
  printer.handle(TokenEvent{"aaaa bbbb cccc "});
  printer.set_columns(10);
  printer.handle(TokenEvent{"dddd eeee ffff"});
  printer.finish();
  CHECK(out == "aaaa bbbb cccc\ndddd eeee\nffff\n");
}

TEST_CASE("an error event prints the error and a next step and ends the answer") {
  CHECK(drawn({TokenEvent{"half an"}, ErrorEvent{"the generator went away", true},
               TokenEvent{"late"}},
              Capabilities{}) ==
        "half an\n\nerror: the generator went away\n  ask again in a moment\n");
  Capabilities color = terminal_of_width(80);
  color.color = true;
  CHECK(drawn({ErrorEvent{"no", false}}, color) ==
        "\x1b[31merror: no\x1b[0m\n  run 'stoka status' to see what does not answer\n");
}

TEST_CASE("the final line break of an answer is printed once") {
  std::string out;
  AnswerPrinter printer([&](std::string_view text) { out += text; }, Capabilities{});
  printer.handle(TokenEvent{"x"});
  printer.handle(DoneEvent{});
  printer.finish();
  printer.handle(DoneEvent{});
  CHECK(out == "x\n");
}

TEST_CASE("error text is wrapped on a terminal and its escape sequences are removed") {
  const Error error(ErrorKind::data, "there is no index at /a/b/c\x1b[2J",
                    "run 'stoka index PATH'");
  CHECK(error_text(error, terminal_of_width(20)) ==
        "error: there is no\nindex at /a/b/c [2J\n  run 'stoka index\n  PATH'");
  CHECK(error_text({ErrorKind::data, "plain"}, Capabilities{}) == "error: plain");
}

TEST_CASE("json_line() formats events and errors") {
  CHECK(json_line(Event(TokenEvent{"a\nb"})) == R"({"event":"token","data":{"text":"a\nb"}})");
  CHECK(json_line(Error(ErrorKind::usage, "bad \xff", "do")) ==
        "{\"error\":{\"kind\":\"usage\",\"message\":\"bad \uFFFD\",\"hint\":\"do\"}}");
}

}  // namespace
}  // namespace stoka::terminal::answer_printer_test
