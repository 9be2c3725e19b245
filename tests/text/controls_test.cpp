#include "text/controls.h"

#include <doctest/doctest.h>

namespace controls_test {

using stoka::text::without_controls;

TEST_CASE("what steers a terminal or the direction of text goes") {
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
    CHECK(without_controls(c.text, {}, &found) == c.removed);
    CHECK(found == c.found);
    CHECK(without_controls(c.text, "?") == c.replaced);
  }
}

}  // namespace controls_test
