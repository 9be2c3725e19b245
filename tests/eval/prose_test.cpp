#include "eval/prose.h"

#include <doctest/doctest.h>

namespace prose_test {

namespace {

using namespace stoka::eval;

TEST_CASE("code and quotations are taken out, what only looks like them stays") {
  const std::string gone(kTakenOut);
  struct {
    std::string_view text;
    std::string code, quotations;
  } const cases[] = {
      {"a `b!` c", "a " + gone + " c", "a `b!` c"},
      {"``a ` b`` c", gone + " c", "``a ` b`` c"},
      {"one ` only", "one ` only", "one ` only"},
      {"`a\n\nb`", "`a\n\nb`", "`a\n\nb`"},
      {"```\na\n\nb\n``` c", gone + " c", "```\na\n\nb\n``` c"},
      {"says \"no.\" Then", "says \"no.\" Then", "says " + gone + ". Then"},
      {"says “no” and «non»", "says “no” and «non»", "says " + gone + " and " + gone},
      {"a 5\" disk, a 3\" one", "a 5\" disk, a 3\" one", "a 5\" disk, a 3\" one"},
      {"don't say 'hi' there", "don't say 'hi' there", "don't say " + gone + " there"},
      {"\"all of it.\"", "\"all of it.\"", "all of it."},
      {"", "", ""},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(without_code(c.text) == c.code);
    CHECK(without_quotations(c.text) == c.quotations);
  }
}

TEST_CASE("a token is a word as people see one, and knows what stands before it") {
  const auto words = tokens("It’s v2.1, hi-fi snake_case\n*loud* — soooo 侘寂");
  const std::string_view expected[] = {"its",  "v2.1",  "hi-fi", "snake_case",
                                       "loud", "soooo", "侘",    "寂"};
  REQUIRE(words.size() == std::size(expected));
  for (size_t i = 0; i < words.size(); ++i) CHECK(words[i].word == expected[i]);
  CHECK(words[0].line);
  CHECK(words[2].sign == ',');
  CHECK(words[3].sign == 0);
  CHECK(words[4].line);
  CHECK(words[4].sign == 0);
  CHECK(words[5].sign == 0x2014);
  CHECK(words[5].loose == "so");
  CHECK(words[4].loose.empty());
}

TEST_CASE("sentences know whether they ask") {
  const auto sentences = sentences_of("which? e.g. v2.1. \"why?\" ... 何？");
  REQUIRE(sentences.size() == 4);
  CHECK(sentences[0].asks);
  CHECK_FALSE(sentences[1].asks);
  CHECK(sentences[2].asks);
  CHECK(sentences[3].asks);
}

}  // namespace

}  // namespace prose_test
