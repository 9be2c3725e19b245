#include <doctest/doctest.h>

#include "text/words.h"

namespace stop_words_test {

using namespace stoka::text;

TEST_CASE("a question is made of stop words and of what it is about") {
  std::string content;
  for (const Word& word : words("What's the best way you'd tell me about THE bounded execution?"))
    if (!is_stop_word(word.text)) content += word.text + " ";
  CHECK(content == "best way bounded execution ");
}

TEST_CASE("a word that only begins like a stop word is none") {
  for (std::string_view word : {"", "thesis", "whatnot", "rust", "cache", "aa", "zzz"})
    CHECK_FALSE(is_stop_word(word));
  for (std::string_view word : {"a", "youve", "dont", "is", "what"}) CHECK(is_stop_word(word));
}

}  // namespace stop_words_test
