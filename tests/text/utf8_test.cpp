#include "text/utf8.h"

#include <doctest/doctest.h>

#include <vector>

namespace utf8_test {

using namespace stoka::text;

namespace {

std::vector<char32_t> decode(std::string_view text) {
  std::vector<char32_t> out;
  for (size_t at = 0; at < text.size();) out.push_back(next_code_point(text, at));
  return out;
}

}  // namespace

TEST_CASE("malformed sequences are replaced one maximal subpart at a time") {
  struct {
    std::string_view bytes;
    std::vector<char32_t> expected;
  } cases[] = {
      {"aé€😀", {'a', 0xE9, 0x20AC, 0x1F600}},
      {"\x80", {0xFFFD}},
      {"\xC0\xAF", {0xFFFD, 0xFFFD}},                          // overlong
      {"\xED\xA0\x80", {0xFFFD, 0xFFFD, 0xFFFD}},              // surrogate
      {"\xF4\x90\x80\x80", {0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD}},  // above 10FFFF
      {"\xE2\x82", {0xFFFD}},                                  // cut
      {"\xF0\x9F\x98"
       "x",
       {0xFFFD, 'x'}},
      {"\xE2\x82\xE2\x82\xAC", {0xFFFD, 0x20AC}},
      {"\xFF\xFE", {0xFFFD, 0xFFFD}},
      {std::string_view("a\0b", 3), {'a', 0, 'b'}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.bytes);
    CHECK(decode(c.bytes) == c.expected);
  }
}

TEST_CASE("valid and invalid texts are told apart") {
  CHECK(is_valid_utf8(""));
  CHECK(is_valid_utf8("plain ascii that is longer than eight bytes"));
  CHECK(is_valid_utf8("longer than eight: é€😀 and on"));
  CHECK_FALSE(is_valid_utf8("longer than eight \xC3"));
  CHECK_FALSE(is_valid_utf8("12345678\xED\xA0\x80"));
}

TEST_CASE("every code point survives encoding and decoding") {
  for (char32_t c = 1; c <= 0x10FFFF; c += c < 0x3000 ? 1 : 0x61) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string bytes;
    append_utf8(bytes, c);
    REQUIRE(is_valid_utf8(bytes));
    REQUIRE(decode(bytes) == std::vector<char32_t>{c});
  }
  std::string bytes;
  append_utf8(bytes, 0xD800);
  append_utf8(bytes, 0x110000);
  CHECK(bytes == "\uFFFD\uFFFD");
}

TEST_CASE("a border is never inside a sequence") {
  std::string_view text = "aé€😀";
  size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (size_t at = 0; at < std::size(expected); ++at) CHECK(floor_border(text, at) == expected[at]);
}

TEST_CASE("repair says what it did") {
  Repair repair;
  CHECK(repair_utf8("\xEF\xBB\xBF"
                    "a\r\nb\rc\n",
                    &repair) == "a\nb\nc\n");
  CHECK(repair.bom);
  CHECK(repair.invalid == 0);

  CHECK(repair_utf8(std::string_view("a\0b\xFF"
                                     "c",
                                     5),
                    &repair) == "ab\uFFFDc");
  CHECK(repair.nul == 1);
  CHECK(repair.invalid == 1);
  CHECK_FALSE(repair.bom);

  CHECK(repair_utf8(std::string_view("\xFF\xFEh\0\xE9\0\x3D\xD8\x00\xDE", 10), &repair) == "hé😀");
  CHECK(repair.utf16);
  CHECK(repair_utf8(std::string_view("\xFE\xFF\0h\0i", 6), &repair) == "hi");
  CHECK(repair_utf8(std::string_view("\xFE\xFF\xD8\x3D\0i", 6), &repair) == "\uFFFDi");
}

TEST_CASE("whatever the bytes, what repair returns is valid and stays as it is") {
  uint32_t seed = 1;
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    for (int i = 0; i < 40; ++i)
      bytes += static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
    std::string once = repair_utf8(bytes);
    REQUIRE(is_valid_utf8(once));
    REQUIRE(once.find('\0') == std::string::npos);
    if (!once.starts_with("\uFEFF")) REQUIRE(repair_utf8(once) == once);
  }
}

}  // namespace utf8_test
