#include "text/normalize.h"

#include <doctest/doctest.h>

#include "text/utf8.h"

namespace normalize_test {

using namespace stoka::text;

TEST_CASE("folding ignores case, width, typography and invisible characters") {
  struct {
    std::string_view text, expected;
  } cases[] = {
      {"", ""},
      {"  Hello\t\n World  ", "hello world"},
      {"ＷＨＡＴ is this？", "what is this?"},
      {"Straße", "strasse"},
      {"“quoted” – ‘text’ — it’s", "\"quoted\" - 'text' - it's"},
      {"re\u200Bact", "react"},
      {"r\u00ADe\u202Ea\u2066ct", "react"},
      {"wr\U000E0077ong", "wrong"},
      {"ﬁle Ⅳ ①", "file iv 1"},
      {"Cafe\u0301", "café"},
      {"a\x01\x7F"
       "b",
       "ab"},
      {"a\u0085b\u3000c", "a b c"},
      {"ΣΊΣΥΦΟΣ", "σίσυφοσ"},
      {"bad \xFF byte", "bad \uFFFD byte"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(fold(c.text) == c.expected);
    CHECK(fold(fold(c.text)) == c.expected);
  }
}

TEST_CASE("clean_query removes control and invisible characters") {
  struct {
    std::string_view text, expected;
  } cases[] = {
      {"  Hello World ", "Hello World"},
      {"a\nb\tc\x1B[31m", "a b c [31m"},
      {"zero\u200Bwidth\uFEFF", "zerowidth"},
      {"bidi\u202E\u2069 x", "bidi x"},
      {"tag\U000E0041\U000E007F", "tag"},
      {"👩\u200D💻 ok", "👩\u200D💻 ok"},
      {"❤\uFE0F\u200D🔥", "❤\uFE0F\u200D🔥"},
      {"می\u200Cخواهم", "می\u200Cخواهم"},
      {"a\u200Db", "ab"},
      {"a\uFE0F\uFE0F\uFE0Fb", "a\uFE0Fb"},
      {"e\u0301", "é"},
      {"\u200B\u2800\u3164 \t", ""},
      {"\x01\x02\x03", ""},
      {"\u0301\u0301", ""},
      {"\u3000何\u3000", "何"},
      {"x\u2028y", "x y"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(clean_query(c.text) == c.expected);
    CHECK(clean_query(clean_query(c.text)) == c.expected);
  }
}

TEST_CASE("long runs of combining marks are cut") {
  std::string text = "a";
  for (int i = 0; i < 5000; ++i) text += i % 2 ? "\u0301" : "\u0323";
  text += "b";
  CHECK(count_code_points(clean_query(text)) < 40);
  CHECK(count_code_points(fold(text)) < 40);
}

TEST_CASE("one_line has no control characters") {
  CHECK(one_line("a\r\nb\x1B]8;;x\x07"
                 "c\x7F\u009B"
                 "d") == "a  b ]8;;x c  d");
  CHECK(one_line("\xC3") == "\uFFFD");
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  std::string out = one_line(all);
  CHECK(is_valid_utf8(out));
  for (char c : out) CHECK(static_cast<unsigned char>(c) >= 0x20);
}

TEST_CASE("collapsing white space changes nothing but white space") {
  CHECK(collapse_whitespace(" a \n\n b\u00A0c ") == "a b c");
  CHECK(collapse_whitespace("“É”  x") == "“É” x");
  CHECK(collapse_whitespace(" \t\n").empty());
}

TEST_CASE("the length of a text is counted in code points") {
  CHECK(count_code_points("") == 0);
  CHECK(count_code_points("aé€😀") == 4);
}

TEST_CASE("control characters and bidi overrides are removed or replaced") {
  struct {
    std::string_view text, removed, replaced;
    size_t found;
  } cases[] = {
      {"", "", "", 0},
      {"plain\ttext\n", "plain\ttext\n", "plain\ttext\n", 0},
      {"\x1B[31mred\x1B[0m", "[31mred[0m", "?[31mred?[0m", 2},
      {"a\x07\x08\x7F\u0080\u009Bb", "ab", "a?????b", 5},
      {"page\fnext\vline\u0085end", "page\nnext\nline\nend", "page?next?line?end", 3},
      {"\u202Egpj.exe\u202C \u2066x\u2069", "gpj.exe x", "?gpj.exe? ?x?", 4},
      {"שלום\u200F é\u200D\U0001F600", "שלום\u200F é\u200D\U0001F600",
       "שלום\u200F é\u200D\U0001F600", 0},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    size_t found = 0;
    CHECK(replace_controls(c.text, {}, &found) == c.removed);
    CHECK(found == c.found);
    CHECK(replace_controls(c.text, "?") == c.replaced);
  }
}

}  // namespace normalize_test
