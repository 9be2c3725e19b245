#include "terminal/cite_box.h"

#include <doctest/doctest.h>

#include "terminal/screen.h"
#include "text/width.h"

namespace stoka::terminal {
namespace {

Citation essay() {
  Citation out;
  out.slug = "bounded-execution";
  out.title = "The Philosophy of Bounded Execution";
  out.quote = "Autonomy without constraint is just chaos with better marketing.";
  out.type = "philosophy";
  out.reading_time = "8 min";
  out.date = "Apr 12";
  out.url = "/blog/bounded-execution";
  return out;
}

Capabilities terminal(int columns) {
  Capabilities out;
  out.tty = true;
  out.columns = columns;
  return out;
}

TEST_CASE("a citation is drawn as a box") {
  CHECK(cite_box(essay(), terminal(52)) ==
        "┌─ cite ───────────────────────────────────────────┐\n"
        "│ The Philosophy of Bounded Execution              │\n"
        "│ \"Autonomy without constraint is just chaos with  │\n"
        "│  better marketing.\"                              │\n"
        "│ philosophy · 8 min read · Apr 12                 │\n"
        "└──────────────────────────────────────────────────┘");
}

TEST_CASE("without unicode the box is ASCII") {
  Capabilities ascii = terminal(40);
  ascii.unicode = false;
  CHECK(cite_box(essay(), ascii) ==
        "+- cite -------------------------------+\n"
        "| The Philosophy of Bounded Execution  |\n"
        "| \"Autonomy without constraint is just |\n"
        "|  chaos with better marketing.\"       |\n"
        "| philosophy - 8 min read - Apr 12     |\n"
        "+--------------------------------------+");
}

TEST_CASE("a narrow terminal gets the lines without a frame") {
  CHECK(cite_box(essay(), terminal(20)) ==
        "The Philosophy of\n"
        "Bounded Execution\n"
        "\"Autonomy without\n"
        " constraint is just\n"
        " chaos with better\n"
        " marketing.\"\n"
        "philosophy · 8 min\n"
        "read · Apr 12");
}

TEST_CASE("a pipe gets a block quote that does not depend on any width") {
  Capabilities pipe;
  pipe.columns = 20;
  const std::string quoted =
      "> The Philosophy of Bounded Execution\n"
      "> \"Autonomy without constraint is just chaos with better marketing.\"\n"
      "> philosophy · 8 min read · Apr 12\n";
  CHECK(cite_box(essay(), pipe) == quoted + "> /blog/bounded-execution");
  CHECK(cite_box(essay(), pipe, "https://a.test") ==
        quoted + "> https://a.test/blog/bounded-execution");
}

TEST_CASE("every line of a box has the same width, whatever is in it and however it is painted") {
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
        Capabilities capabilities = terminal(columns);
        capabilities.color = capabilities.hyperlinks = painted;
        const std::string box = cite_box(citation, capabilities, "https://a.test");
        for (const std::string& line : lines_of(without_escapes(box))) {
          CAPTURE(columns);
          CAPTURE(line);
          REQUIRE(text::display_width(line) == static_cast<size_t>(std::min(columns, 72)));
        }
      }
    }
  }
}

TEST_CASE("no compact line is wider than its terminal") {
  Citation citation = essay();
  citation.quote = "日本語のテキスト and " + std::string(80, 'y');
  for (int columns = 8; columns < 30; ++columns) {
    for (const std::string& line : lines_of(cite_box(citation, terminal(columns)))) {
      CAPTURE(line);
      CHECK(text::display_width(line) <= static_cast<size_t>(columns));
    }
  }
  CHECK_FALSE(cite_box(citation, terminal(1)).empty());
}

TEST_CASE("the title is green and linked, the quote dim and italic, the meta line grey") {
  Capabilities capabilities = terminal(60);
  capabilities.color = capabilities.hyperlinks = true;
  const std::string box = cite_box(essay(), capabilities, "https://a.test");
  CHECK(box.find("\x1b]8;;https://a.test/blog/bounded-execution\x1b\\"
                 "\x1b[1;32mThe Philosophy of Bounded Execution\x1b[0m\x1b]8;;\x1b\\") !=
        std::string::npos);
  CHECK(box.find("\x1b[2;3m\"Autonomy") != std::string::npos);
  CHECK(box.find("\x1b[90mphilosophy · 8 min read · Apr 12\x1b[0m") != std::string::npos);
  // Without the site a path is no target.
  CHECK(cite_box(essay(), capabilities).find("\x1b]8") == std::string::npos);
}

TEST_CASE("what a citation lacks is left out") {
  Citation bare;
  bare.slug = "bare-slug";
  CHECK(cite_box(bare, Capabilities{}) == "> bare-slug");
  bare.date = "Apr 12";
  CHECK(cite_box(bare, Capabilities{}) == "> bare-slug\n> Apr 12");
  CHECK(lines_of(cite_box(bare, terminal(40))).size() == 4);
}

TEST_CASE("a hostile title cannot break out of its line") {
  Citation hostile = essay();
  hostile.title = "a\x1b[2J\x1b]8;;http://evil\x07\nb\u202Ec";
  const std::string plain = cite_box(hostile, Capabilities{});
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(plain.starts_with("> a [2J ]8;;http://evil bc\n"));
}

}  // namespace
}  // namespace stoka::terminal
