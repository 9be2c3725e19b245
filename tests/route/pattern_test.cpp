#include "route/pattern.h"

#include <doctest/doctest.h>

#include <string>

namespace pattern_test {

using namespace stoka;

TEST_CASE("patterns match words, alternatives, optional words and gaps") {
  auto matches = [](std::string_view pattern, std::vector<std::string_view> words) {
    return route::Pattern::compile(pattern).value().matches(words);
  };
  CHECK(matches("^ a $", {"a"}));
  CHECK(!matches("^ a $", {"a", "b"}));
  CHECK(matches("a|b c", {"x", "b", "c", "y"}));
  CHECK(matches("^ a? b $", {"b"}));
  CHECK(matches("^ a? b $", {"a", "b"}));
  CHECK(matches("a ..2 d", {"a", "b", "c", "d"}));
  CHECK(!matches("a ..2 d", {"a", "b", "c", "c", "d"}));
  CHECK(matches("^ . $", {"anything"}));
  CHECK(!matches("^ . $", {}));
  CHECK(matches("a ..2 $", {"a"}));
}

TEST_CASE("a match ends after the words that it takes") {
  const auto end = [](std::string_view pattern, std::vector<std::string_view> words) {
    return route::Pattern::compile(pattern).value().match_end(words);
  };
  CHECK(end("^ what new in?", {"what", "new", "in", "tern"}) == 2);
  CHECK(end("^ a b $", {"a", "b"}) == 2);
  CHECK(end("b", {"a", "b", "c"}) == 2);
  CHECK_FALSE(end("^ b", {"a", "b"}));
}

TEST_CASE("malformed patterns are refused") {
  for (const char* pattern : {"", "^", "a ^", "$ a", "..0", "..x", "?", "|"}) {
    CAPTURE(std::string(pattern));
    CHECK(!route::Pattern::compile(pattern));
  }
}

}  // namespace pattern_test
