#include "terminal/cite_box.h"

#include <doctest/doctest.h>

#include "terminal/screen.h"
#include "text/width.h"

namespace stoka::terminal::cite_box_test {

using namespace stoka::testing;

namespace {

Citation essay() {
  Citation out;
  out.slug = "bounded-execution";
  out.title = "The Philosophy of Bounded Execution";
  out.quote = "Autonomy without constraint is just chaos with better marketing.";
  out.type = "philosophy";
  out.reading_time = "8 min";
  out.date = "Apr 12";
  out.url = "https://a.test/blog/bounded-execution#:~:text=Autonomy";
  return out;
}

TEST_CASE("a terminal shows a citation as a box") {
  CHECK(cite_box(essay(), terminal_of_width(52), 12) ==
        "┌─ cite 12 ────────────────────────────────────────┐\n"
        "│ The Philosophy of Bounded Execution              │\n"
        "│ \"Autonomy without constraint is just chaos with  │\n"
        "│  better marketing.\"                              │\n"
        "│ philosophy · 8 min read · Apr 12                 │\n"
        "└──────────────────────────────────────────────────┘");
}

TEST_CASE("the box is drawn in ASCII if unicode is false") {
  Capabilities ascii = terminal_of_width(40);
  ascii.unicode = false;
  CHECK(cite_box(essay(), ascii, 1) ==
        "+- cite 1 -----------------------------+\n"
        "| The Philosophy of Bounded Execution  |\n"
        "| \"Autonomy without constraint is just |\n"
        "|  chaos with better marketing.\"       |\n"
        "| philosophy - 8 min read - Apr 12     |\n"
        "+--------------------------------------+");
}

TEST_CASE("a narrow terminal shows a citation without a frame") {
  CHECK(cite_box(essay(), terminal_of_width(20), 3) ==
        "[3] The Philosophy\n"
        "    of Bounded\n"
        "    Execution\n"
        "\"Autonomy without\n"
        " constraint is just\n"
        " chaos with better\n"
        " marketing.\"\n"
        "philosophy · 8 min\n"
        "read · Apr 12");
}

TEST_CASE("a pipe gets a block quote that is not wrapped") {
  Capabilities pipe;
  pipe.columns = 20;
  const std::string quoted =
      "> The Philosophy of Bounded Execution\n"
      "> \"Autonomy without constraint is just chaos with better marketing.\"\n"
      "> philosophy · 8 min read · Apr 12\n";
  const std::string address = "> https://a.test/blog/bounded-execution#:~:text=Autonomy";
  CHECK(cite_box(essay(), pipe) == quoted + address);
  CHECK(cite_box(essay(), pipe, 2) == "> [2] " + quoted.substr(2) + address);
}

TEST_CASE("a citation without a number is followed by its address, which is not wrapped") {
  Citation citation = essay();
  citation.url += std::string(200, 'x');
  for (const int columns : {8, 20, 40, 80}) {
    CAPTURE(columns);
    const auto lines = lines_of(cite_box(citation, terminal_of_width(columns)));
    CHECK(lines.back() == citation.url);
    // All other lines are wrapped as they are without the address.
    const auto numbered = lines_of(cite_box(citation, terminal_of_width(columns), 1));
    for (const std::string& line : numbered) {
      CAPTURE(line);
      CHECK(text::display_width(line) <= static_cast<size_t>(columns));
      CHECK(line.find("https") == std::string::npos);
    }
  }
}

TEST_CASE("cite_address() returns only addresses that may be shown") {
  struct Case {
    const char* url;
    const char* shown;
  };
  for (const Case& c :
       {Case{"https://a.test/b#:~:text=c", "https://a.test/b#:~:text=c"},
        // Only a browser can use a text fragment.
        Case{"/b#:~:text=c", "/b"}, Case{"/b#c", "/b#c"},
        Case{"https://a.test/caf\u00e9", "https://a.test/caf%C3%A9"},
        Case{"javascript:alert(1)", ""}, Case{"/a\x1b]8;;\x07", ""}, Case{"", ""}}) {
    CAPTURE(std::string(c.url));
    Citation citation = essay();
    citation.url = c.url;
    CHECK(cite_address(citation) == c.shown);
  }
}

TEST_CASE("all lines of a box have the same width for any content and style") {
  Citation wide = essay();
  wide.title =
      "自律と制約の哲学 cafe\u0301 — 👩‍💻 the long title that needs wrapping";
  wide.quote =
      "z\u0337\u0317a\u0308lgo 日本語のテキストは空白なしで続くので折り返しが必要です。 end";
  Citation long_word = essay();
  long_word.title = std::string(200, 'x');
  long_word.quote = std::string(300, 'y');
  for (const Citation& citation : {essay(), wide, long_word}) {
    for (int columns = 30; columns <= 100; ++columns) {
      for (const bool painted : {false, true}) {
        Capabilities capabilities = terminal_of_width(columns);
        capabilities.color = capabilities.hyperlinks = painted;
        const std::string box = cite_box(citation, capabilities, 123456);
        for (const std::string& line : lines_of(without_escapes(box))) {
          CAPTURE(columns);
          CAPTURE(line);
          REQUIRE(text::display_width(line) == static_cast<size_t>(std::min(columns, 72)));
        }
      }
    }
  }
}

TEST_CASE("no line without a frame is wider than the terminal") {
  Citation citation = essay();
  citation.quote = "日本語のテキスト and " + std::string(80, 'y');
  for (int columns = 8; columns < 30; ++columns) {
    for (const std::string& line : lines_of(cite_box(citation, terminal_of_width(columns), 99))) {
      CAPTURE(line);
      CHECK(text::display_width(line) <= static_cast<size_t>(columns));
    }
  }
  CHECK_FALSE(cite_box(citation, terminal_of_width(1)).empty());
}

TEST_CASE("the title is a green hyperlink, the quote dim and italic, the meta line grey") {
  Capabilities capabilities = terminal_of_width(60);
  capabilities.color = capabilities.hyperlinks = true;
  const std::string box = cite_box(essay(), capabilities, 1);
  CHECK(box.find("\x1b]8;;https://a.test/blog/bounded-execution#:~:text=Autonomy\x1b\\"
                 "\x1b[1;32mThe Philosophy of Bounded Execution\x1b[0m\x1b]8;;\x1b\\") !=
        std::string::npos);
  CHECK(box.find("\x1b[2;3m\"Autonomy") != std::string::npos);
  CHECK(box.find("\x1b[90mphilosophy · 8 min read · Apr 12\x1b[0m") != std::string::npos);
  // A path alone is not made a hyperlink.
  Citation path = essay();
  path.url = "/blog/bounded-execution";
  CHECK(cite_box(path, capabilities, 1).find("\x1b]8") == std::string::npos);
}

TEST_CASE("empty fields of a citation are left out") {
  Citation bare;
  bare.slug = "bare-slug";
  CHECK(cite_box(bare, Capabilities{}) == "> bare-slug");
  bare.date = "Apr 12";
  CHECK(cite_box(bare, Capabilities{}) == "> bare-slug\n> Apr 12");
  CHECK(lines_of(cite_box(bare, terminal_of_width(40))).size() == 4);
}

TEST_CASE("escape sequences and line breaks in a title are removed") {
  Citation hostile = essay();
  hostile.title = "a\x1b[2J\x1b]8;;http://evil\x07\nb\u202Ec";
  const std::string plain = cite_box(hostile, Capabilities{});
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(plain.starts_with("> a [2J ]8;;http://evil bc\n"));
  Capabilities links = terminal_of_width(60);
  links.hyperlinks = true;
  for (const char* url :
       {"https://a.test/\x1b\\\x1b[2J", "javascript:alert(1)", "https://a.test/\x07"}) {
    hostile = essay();
    hostile.url = url;
    for (const size_t number : {size_t{0}, size_t{1}})
      CHECK(cite_box(hostile, links, number).find('\x1b') == std::string::npos);
  }
  hostile.url = "https://a.test/\xc2\x9b";
  CHECK(cite_box(hostile, links).find('\x9b') == std::string::npos);
}

}  // namespace
}  // namespace stoka::terminal::cite_box_test
