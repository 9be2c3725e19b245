#include "generate/surrogates.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace surrogates_test {

namespace {

using stoka::generate::mark_lone_surrogates;
using stoka::generate::SurrogateJoiner;

// Marks and joins a list of JSON strings.
std::string join(const std::vector<std::string>& texts) {
  SurrogateJoiner joiner;
  std::string out;
  for (const std::string& text : texts) out += joiner.push(mark_lone_surrogates(text));
  return out + joiner.finish();
}

}  // namespace

TEST_CASE("complete surrogate pairs and other escapes are left to the parser") {
  for (const std::string text :
       {R"(a \ud83d\ude00 b)", R"(\\ud83d)", R"(\\\\ude00)", R"(\u00e9 \n \" \ud7ff \ue000)",
        R"(\u12)", R"(\uzzzz)", R"(\)", R"(\u)", R"(\ud83)", ""})
    CHECK(mark_lone_surrogates(text) == text);
}

TEST_CASE("the halves of a surrogate pair are joined across texts, or replaced if one is missing") {
  CHECK(join({R"(a\ud83d)", R"(\ude00b)"}) == "a\U0001F600b");
  CHECK(join({R"(a\uD83D)", "", R"(\uDE00)"}) == "a\U0001F600");
  CHECK(join({R"(\ud83d)", R"(a)", R"(\ude00)"}) == "\uFFFDa\uFFFD");
  CHECK(join({R"(\ude00\ud83d)"}) == "\uFFFD\uFFFD");
  CHECK(join({R"(\ud83d)", R"(\ud83d)", R"(\ude00)"}) == "\uFFFD\U0001F600");
  CHECK(join({R"(\ud800)", R"(\udc00)"}) == "\U00010000");
  CHECK(join({R"(\udbff)", R"(\udfff)"}) == "\U0010FFFF");
}

TEST_CASE("other private use characters pass unchanged") {
  CHECK(join({"\U0010F7FF \U00100000 \U000F0000"}) == "\U0010F7FF \U00100000 \U000F0000");
}

}  // namespace surrogates_test
