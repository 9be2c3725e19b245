#include "base/ascii.h"

#include <doctest/doctest.h>

namespace ascii_test {

using namespace stoka;

TEST_CASE("to_lower and trim change ASCII only") {
  CHECK(to_lower("HTTP://Ünder") == "http://Ünder");
  CHECK(trimmed(" \t\r\n a b \f\v") == "a b");
  CHECK(trimmed(" \n ") == "");
  CHECK(trimmed("") == "");
}

TEST_CASE("character classes hold ASCII characters only") {
  CHECK(is_ascii_digit('7'));
  CHECK(is_ascii_alnum('z'));
  CHECK(is_ascii_letter(U'Z'));
  for (const char c : {'@', '[', '`', '{', '/', ':', '\xC3', '\xFF'})
    CHECK_FALSE(is_ascii_alnum(c));
  CHECK_FALSE(is_ascii_digit(U'\uFF11'));
  CHECK_FALSE(is_ascii('\x80'));
  CHECK(hex_digit_value('f') == 15);
  CHECK(hex_digit_value('A') == 10);
  CHECK(hex_digit_value('g') == -1);
}

TEST_CASE("take_line returns the first line without its line feed") {
  std::string_view text = "a\n\nb";
  CHECK(take_line(text) == "a");
  CHECK(take_line(text) == "");
  CHECK(take_line(text) == "b");
  CHECK(text.empty());
}

TEST_CASE("take_field returns the first run of characters without white space") {
  std::string_view text = " \ta  b,c\n";
  CHECK(take_field(text) == "a");
  CHECK(take_field(text) == "b,c");
  CHECK(take_field(text) == "");
  CHECK(text.empty());
}

TEST_CASE("parse_number reads a number only if it is the whole text and fits") {
  CHECK(parse_number<int>("-12") == -12);
  CHECK(parse_number<double>("0.25") == 0.25);
  CHECK(parse_number<unsigned>("007") == 7u);
  for (const char* text : {"", "+1", " 1", "1 ", "1.5", "0x1", "a", "9999999999"})
    CHECK_MESSAGE(!parse_number<int>(text), text);
  CHECK_FALSE(parse_number<unsigned>("-1"));
}

}  // namespace ascii_test
