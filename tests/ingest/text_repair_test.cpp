#include "ingest/text_repair.h"

#include <doctest/doctest.h>

namespace text_repair_test {

using namespace stoka::ingest;

TEST_CASE("text is repaired, and the repairs are counted over all parts") {
  RepairReport repairs;
  CHECK(repair_text("plain, \xC3\xBC\r\n\tend", "", repairs) == "plain, ü\n\tend");
  CHECK(repairs.describe().empty());
  CHECK(repair_text("some words, a\x1B[1mb\xC2\x85"
                    "c",
                    " ", repairs) == "some words, a [1mb c");
  CHECK(repair_text("some words, a\x1B[1mb\xC2\x85"
                    "c",
                    "", repairs) == "some words, a[1mb\nc");
  CHECK(repair_text("\xEF\xBB\xBFsome words, a\xC3 b", "", repairs) == "some words, a\uFFFD b");
  CHECK(repair_text("and here, a\xFF b", "", repairs) == "and here, a\uFFFD b");
  CHECK(repairs.describe() == std::vector<std::string>{"2 invalid UTF-8 sequences replaced",
                                                       "4 control characters removed"});
}

TEST_CASE("binary data is refused and not counted") {
  RepairReport repairs;
  CHECK_FALSE(repair_text(std::string(50, '\xFF'), "", repairs).has_value());
  CHECK_FALSE(repair_text(std::string(50, '\0') + "x", "", repairs).has_value());
  CHECK(repairs.describe().empty());
}

TEST_CASE("only a file that is not in UTF-8 is converted") {
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
    RepairReport repairs;
    CAPTURE(c.bytes);
    CHECK(convert_to_utf8(c.bytes, repairs) == c.text);
    CHECK(repairs.describe().size() == (c.text ? 1 : 0));
  }
}

}  // namespace text_repair_test
