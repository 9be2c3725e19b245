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

TEST_CASE("each maximal subpart of an invalid sequence becomes U+FFFD") {
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

TEST_CASE("is_valid_utf8 accepts valid UTF-8 only") {
  CHECK(is_valid_utf8(""));
  CHECK(is_valid_utf8("plain ascii that is longer than eight bytes"));
  CHECK(is_valid_utf8("longer than eight: é€😀 and on"));
  CHECK_FALSE(is_valid_utf8("longer than eight \xC3"));
  CHECK_FALSE(is_valid_utf8("12345678\xED\xA0\x80"));
}

TEST_CASE("every code point is the same after encoding and decoding") {
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

TEST_CASE("a boundary is never inside a sequence") {
  std::string_view text = "aé€😀";
  size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (size_t at = 0; at < std::size(expected); ++at)
    CHECK(floor_char_boundary(text, at) == expected[at]);
}

TEST_CASE("repair_utf8 reports its changes") {
  Utf8Repair repair;
  CHECK(repair_utf8("\xEF\xBB\xBF"
                    "a\r\nb\rc\n",
                    &repair) == "a\nb\nc\n");
  CHECK(repair.invalid == 0);

  CHECK(repair_utf8(std::string_view("a\0b\xFF"
                                     "c",
                                     5),
                    &repair) == "ab\uFFFDc");
  CHECK(repair.nul == 1);
  CHECK(repair.invalid == 1);
}

TEST_CASE("repair_utf8 converts UTF-16 with a byte order mark") {
  CHECK(repair_utf8(std::string_view("\xFF\xFEh\0\xE9\0\x3D\xD8\x00\xDE", 10)) == "hé😀");
  CHECK(repair_utf8(std::string_view("\xFE\xFF\0h\0i", 6)) == "hi");
  CHECK(repair_utf8(std::string_view("\xFE\xFF\xD8\x3D\0i", 6)) == "\uFFFDi");
  CHECK(has_utf16_mark("\xFF\xFE"));
  CHECK_FALSE(has_utf16_mark("\xEF\xBB\xBFtext"));
}

TEST_CASE("utf8_prefix distinguishes valid, incomplete and invalid bytes") {
  struct {
    std::string_view bytes;
    Utf8Prefix::Kind kind;
    size_t length;
  } cases[] = {
      {"plain ascii, longer than eight", Utf8Prefix::valid, 30},
      {"aé€😀", Utf8Prefix::valid, 10},
      {"aé\xE2\x82", Utf8Prefix::valid, 3},
      {"12345678\xFF", Utf8Prefix::valid, 8},
      {"\xF0\x9F\x98", Utf8Prefix::incomplete, 3},
      {"\xC3", Utf8Prefix::incomplete, 1},
      {"\xF0\x9F\x98x", Utf8Prefix::invalid, 3},
      {"\xED\xA0\x80", Utf8Prefix::invalid, 1},
      {"\xC0\xAF", Utf8Prefix::invalid, 1},
  };
  for (const auto& c : cases) {
    CAPTURE(c.bytes);
    const Utf8Prefix prefix = utf8_prefix(c.bytes);
    CHECK(prefix.kind == c.kind);
    CHECK(prefix.length == c.length);
  }
}

TEST_CASE("a stream of bytes becomes the same text, wherever it is split") {
  const std::string_view bytes = "aé€😀\xE2\x82z\xF0\x9F\xFF\xED\xA0\x80\xC3";
  const std::string expected = "aé€😀\uFFFDz\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD";
  for (size_t first = 0; first <= bytes.size(); ++first)
    for (size_t second = first; second <= bytes.size(); ++second) {
      CAPTURE(first);
      CAPTURE(second);
      std::string text;
      const auto append = [&](std::string_view part) { text += part; };
      Utf8Sanitizer sanitizer;
      sanitizer.push(bytes.substr(0, first), append);
      sanitizer.push(bytes.substr(first, second - first), append);
      sanitizer.push(bytes.substr(second), append);
      sanitizer.finish(append);
      CHECK(text == expected);
    }
}

TEST_CASE("repair_utf8 returns valid UTF-8 for any bytes, and does not change its own result") {
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

TEST_CASE("Windows-1252 is distinguished from UTF-8 and from other encodings") {
  const std::string filler = " and some plain words to make it long enough, as a page of text is";
  const std::string accents =
      "Caf\xE9 \x93quoted\x94 \x96 \x80"
      "5";
  struct {
    const char* name;
    std::string bytes;
    std::optional<std::string> text;
  } cases[] = {
      {"nothing", "", std::nullopt},
      {"ASCII", "plain" + filler, std::nullopt},
      {"UTF-8", "Café “quoted”" + filler, std::nullopt},
      {"Windows-1252", accents + filler + filler, "Café “quoted” – €5" + filler + filler},
      {"too little text around", "Caf\xE9", std::nullopt},
      {"damaged UTF-8", "Café “quoted” \xE2\x82" + filler, std::nullopt},
      {"U+FFFD that was there before", "a \uFFFD b" + filler, std::nullopt},
      {"an undefined byte", "Caf\xE9 \x81" + filler, std::nullopt},
      {"NUL", "Caf\xE9" + std::string(1, '\0') + filler, std::nullopt},
      {"another alphabet", "\xCF\xF0\xE8\xE2\xE5\xF2 \xEC\xE8\xF0" + filler, std::nullopt},
  };
  for (const auto& c : cases) {
    CAPTURE(c.name);
    CHECK(windows_1252_to_utf8(c.bytes) == c.text);
  }
}

}  // namespace utf8_test
