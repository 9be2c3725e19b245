#include "eval/sentence.h"

#include <doctest/doctest.h>

namespace sentence_test {

namespace {

using namespace stoka::eval;

TEST_CASE("code and quotations are replaced, and what only looks like them stays") {
  const std::string gone(kPlaceholder);
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

TEST_CASE("a token is a word with the punctuation before it") {
  const auto words = tokens("It’s v2.1, hi-fi snake_case\n*loud* — soooo 侘寂");
  const std::string_view expected[] = {"its",  "v2.1",  "hi-fi", "snake_case",
                                       "loud", "soooo", "侘",    "寂"};
  REQUIRE(words.size() == std::size(expected));
  for (size_t i = 0; i < words.size(); ++i) CHECK(words[i].word == expected[i]);
  CHECK(words[0].starts_line);
  CHECK(words[2].punctuation == ',');
  CHECK(words[3].punctuation == 0);
  CHECK(words[4].starts_line);
  CHECK(words[4].punctuation == 0);
  CHECK(words[5].punctuation == 0x2014);
  CHECK(words[5].collapsed == "so");
  CHECK(words[4].collapsed.empty());
}

TEST_CASE("is_question is set for sentences that end in a question mark") {
  const auto sentences = sentences_of("which? e.g. v2.1. \"why?\" ... 何？");
  REQUIRE(sentences.size() == 4);
  CHECK(sentences[0].is_question);
  CHECK_FALSE(sentences[1].is_question);
  CHECK(sentences[2].is_question);
  CHECK(sentences[3].is_question);
}

}  // namespace

}  // namespace sentence_test
