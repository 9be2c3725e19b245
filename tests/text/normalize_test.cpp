#include "text/normalize.h"

#include <doctest/doctest.h>

#include "text/utf8.h"

namespace normalize_test {

using namespace stoka::text;

TEST_CASE("folding makes equal what a reader takes as equal") {
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

TEST_CASE("a query keeps what is visible and loses what is smuggled") {
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

TEST_CASE("ten thousand stacked marks are neither kept nor slow to order") {
  std::string text = "a";
  for (int i = 0; i < 5000; ++i) text += i % 2 ? "\u0301" : "\u0323";
  text += "b";
  CHECK(length(clean_query(text)) < 40);
  CHECK(length(fold(text)) < 40);
}

TEST_CASE("one line never carries a control character") {
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

TEST_CASE("squeezing touches nothing but white space") {
  CHECK(squeeze(" a \n\n b\u00A0c ") == "a b c");
  CHECK(squeeze("“É”  x") == "“É” x");
  CHECK(squeeze(" \t\n").empty());
}

TEST_CASE("length counts code points") {
  CHECK(length("") == 0);
  CHECK(length("aé€😀") == 4);
}

}  // namespace normalize_test
