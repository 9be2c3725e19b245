#include "text/width.h"

#include <doctest/doctest.h>

#include "text/utf8.h"

namespace width_test {

using namespace stoka::text;

TEST_CASE("display_width counts columns as terminals draw them") {
  struct {
    std::string_view text;
    size_t columns;
  } cases[] = {
      {"", 0},
      {"abc", 3},
      {"é", 1},
      {"e\u0301", 1},
      {"数据", 4},
      {"ｶﾅ", 2},
      {"😀", 2},
      {"👩\u200D💻", 2},
      {"👨\u200D👩\u200D👧", 2},
      {"🇳🇱", 2},
      {"👍🏽", 2},
      {"❤\uFE0F", 2},
      {"❤", 1},
      {"1\uFE0F\u20E3", 2},
      {"a\x1B"
       "b",
       2},
      {"a\tb", 2},
      {"zero\u200Bwidth", 9},
      {"“—”", 3},
      {"\u3000", 2},
      {"한국어", 6},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(display_width(c.text) == c.columns);
  }
}

TEST_CASE("truncation keeps whole clusters and ends in an ellipsis") {
  CHECK(truncate_to_width("hello", 5) == "hello");
  CHECK(truncate_to_width("hello!", 5) == "hell…");
  CHECK(truncate_to_width("数据库", 5) == "数据…");
  CHECK(truncate_to_width("数据库", 6) == "数据库");
  CHECK(truncate_to_width("数据库", 4) == "数…");
  CHECK(truncate_to_width("👩\u200D💻x", 2) == "…");
  CHECK(truncate_to_width("e\u0301e\u0301e\u0301", 2) == "e\u0301…");
  CHECK(truncate_to_width("x", 0).empty());
  CHECK(truncate_to_width("", 5).empty());
}

TEST_CASE(
    "lines break at spaces and between wide characters, and inside a word only if it is too long") {
  using List = std::vector<std::string>;
  struct {
    std::string_view text;
    size_t columns;
    List expected;
  } cases[] = {
      {"", 10, {""}},
      {"one two three", 7, {"one two", "three"}},
      {"one two three", 8, {"one two", "three"}},
      {"one\ntwo\n", 10, {"one", "two", ""}},
      {"abcdefgh", 3, {"abc", "def", "gh"}},
      {"ab cdefghi", 4, {"ab", "cdef", "ghi"}},
      {"数据库索引", 4, {"数据", "库索", "引"}},
      {"数据库", 3, {"数", "据", "库"}},
      {"a 数据", 4, {"a 数", "据"}},
      {"  indented text", 10, {"  indented", "text"}},
      {"trailing   ", 20, {"trailing"}},
      {"数", 1, {"数"}},
      {"ab", 0, {"a", "b"}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CAPTURE(c.columns);
    CHECK(wrap(c.text, c.columns) == c.expected);
  }
}

TEST_CASE("at any width, no line is too wide and no visible character is lost") {
  std::string_view text =
      "The 数据库 said “no” — e\u0301clair 👩\u200D💻 internationalization,  twice. 🇳🇱🇩🇪 end";
  std::string visible;
  for (char c : text)
    if (c != ' ') visible += c;
  for (size_t columns = 2; columns < 40; ++columns) {
    CAPTURE(columns);
    std::string joined;
    for (const std::string& line : wrap(text, columns)) {
      CHECK(display_width(line) <= columns);
      CHECK(is_valid_utf8(line));
      for (char c : line)
        if (c != ' ') joined += c;
    }
    CHECK(joined == visible);
    CHECK(display_width(truncate_to_width(text, columns)) <= columns);
  }
}

}  // namespace width_test
