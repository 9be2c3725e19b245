#include "ingest/mending.h"

#include <doctest/doctest.h>

namespace mending_test {

using namespace stoka::ingest;

TEST_CASE("bytes become text, and what was done is counted over all parts") {
  Mending mending;
  CHECK(mend("plain, \xC3\xBC\r\n\tend", "", mending) == "plain, ü\n\tend");
  CHECK(mending.describe().empty());
  CHECK(mend("some words, a\x1B[1mb\xC2\x85"
             "c",
             " ", mending) == "some words, a [1mb c");
  CHECK(mend("some words, a\x1B[1mb\xC2\x85"
             "c",
             "", mending) == "some words, a[1mb\nc");
  CHECK(mend("\xEF\xBB\xBFsome words, a\xC3 b", "", mending) == "some words, a\uFFFD b");
  CHECK(mend("and here, a\xFF b", "", mending) == "and here, a\uFFFD b");
  CHECK(mending.describe() == std::vector<std::string>{"2 invalid UTF-8 sequences replaced",
                                                       "4 control characters removed"});
}

TEST_CASE("what is no text is refused and not counted") {
  Mending mending;
  CHECK_FALSE(mend(std::string(50, '\xFF'), "", mending).has_value());
  CHECK_FALSE(mend(std::string(50, '\0') + "x", "", mending).has_value());
  CHECK(mending.describe().empty());
}

TEST_CASE("only a file that is not UTF-8 is decoded from something else") {
  const std::string words = " and more words to make it long enough";
  const std::string wide("\xFE\xFF\0h\0i", 6);
  const struct {
    std::string bytes;
    std::optional<std::string> text;
  } cases[] = {
      {"plain", std::nullopt},
      {"caf\xC3\xA9" + words, std::nullopt},
      {"caf\xC3\xA9 caf\xE9" + words, std::nullopt},
      {"caf\xE9" + words, "café" + words},
      {wide, "hi"},
  };
  for (const auto& c : cases) {
    Mending mending;
    CAPTURE(c.bytes);
    CHECK(decode_other(c.bytes, mending) == c.text);
    CHECK(mending.describe().size() == (c.text ? 1 : 0));
  }
}

}  // namespace mending_test
