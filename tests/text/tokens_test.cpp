#include "text/tokens.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "text/utf8.h"

namespace tokens_test {

using namespace stoka::text;

TEST_CASE("estimated token counts are close to those of byte-pair encodings") {
  struct {
    std::string_view text;
    size_t min, max;
  } cases[] = {
      {"", 0, 0},
      {"   ", 0, 0},
      {"noted.", 2, 2},
      {"the quick brown fox jumps over the lazy dog", 9, 10},
      {"internationalization", 2, 4},
      {"for (int i = 0; i < 10; ++i) {}", 14, 20},
      {"1234567890", 4, 4},
      {"数据库索引", 5, 5},
      {"Привет мир", 3, 6},
      {"😀", 1, 3},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(estimate_tokens(c.text) >= c.min);
    CHECK(estimate_tokens(c.text) <= c.max);
  }
}

TEST_CASE("English prose has about four and a half characters for each token") {
  std::string all;
  for (const auto& entry :
       std::filesystem::directory_iterator(STOKA_SOURCE_DIR "/evals/site/blog")) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    all += text.str();
  }
  REQUIRE(all.size() > 10'000);
  double per_token = double(all.size()) / double(estimate_tokens(all));
  CHECK(per_token > 3.9);
  CHECK(per_token < 4.8);
}

TEST_CASE(
    "the token estimate of a whole is at least that of a part and at most the sum of its parts") {
  std::string text =
      "Don't index 12345 rows—ever! 数据库 and\n\n    code(x) += \"y\"; naïve 😀 done...";
  size_t whole = estimate_tokens(text);
  for (size_t at = 0; at <= text.size(); ++at) {
    if (floor_char_boundary(text, at) != at) continue;
    size_t head = estimate_tokens(std::string_view(text).substr(0, at));
    size_t tail = estimate_tokens(std::string_view(text).substr(at));
    CHECK(head <= whole);
    CHECK(tail <= whole);
    CHECK(head + tail >= whole);
  }
}

}  // namespace tokens_test
