#include "text/windows_1252.h"

#include <doctest/doctest.h>

namespace windows_1252_test {

using stoka::text::from_windows_1252;

TEST_CASE("bytes that read as Windows-1252 are told from UTF-8 and from noise") {
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
    CHECK(from_windows_1252(c.bytes) == c.text);
  }
}

}  // namespace windows_1252_test
