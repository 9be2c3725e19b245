#include <doctest/doctest.h>

#include "text/words.h"

namespace stop_words_test {

using namespace stoka::text;

TEST_CASE("without stop words, a question is left with its content words") {
  std::string content;
  for (const Word& word : words("What's the best way you'd tell me about THE bounded execution?"))
    if (!is_stop_word(word.text)) content += word.text + " ";
  CHECK(content == "best way bounded execution ");
}

TEST_CASE("only whole words are stop words") {
  for (std::string_view word : {"", "thesis", "whatnot", "rust", "cache", "aa", "zzz"})
    CHECK_FALSE(is_stop_word(word));
  for (std::string_view word : {"a", "youve", "dont", "is", "what"}) CHECK(is_stop_word(word));
}

}  // namespace stop_words_test
