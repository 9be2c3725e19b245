#include "eval/phrases.h"

#include <set>

#include "sample_answer.h"

namespace phrases_test {

namespace {

using namespace stoka;
using namespace stoka::eval;
using namespace stoka::testing;

bool finds(std::string phrase, std::string_view text) {
  const Phrases phrases = {{"apology", {std::move(phrase)}}, {"filler", {"well", "but"}}};
  return find_phrase(sentences_of(text), phrases, "apology").has_value();
}

TEST_CASE("a phrase is found only in the position that its markers ask for") {
  struct {
    std::string_view phrase, text;
    bool found;
  } const cases[] = {
      {"so sad", "it is so sad here", true},
      {"so sad", "it is also sad here", false},
      {"so sad", "so. sad", false},
      {"^sorry", "sorry that", true},
      {"^sorry", "Well, but SORRY that", true},
      {"^sorry", "not sorry that", false},
      {"^sorry", "nothing, sorry that", false},
      {",sorry", "nothing, sorry that", true},
      {",sorry", "nothing, but sorry that", true},
      {",sorry", "nothing but sorry that", false},
      {"sorry|", "sorry that", false},
      {"sorry|", "sorry, that", true},
      {"sorry|", "sorry\nthat", true},
      {"sorry|", "i am sorry", true},
      {"i'm sorry", "I’m sorry", true},
      {"sorry", "sorryyyy", true},
      {"sorry", "sory", false},
      {"hi", "hi-fi", false},
      {"v2.1", "v2.1 is", true},
      {"好的", "那好的话", true},
  };
  for (const auto& c : cases) {
    CAPTURE(c.phrase);
    CAPTURE(c.text);
    CHECK(finds(std::string(c.phrase), c.text) == c.found);
  }
}

TEST_CASE("an invalid list of phrases gives a config error with its line") {
  struct {
    std::string_view toml, message;
  } const cases[] = {
      {"greeting = []\napology = \"sorry\"\n", "phrases.toml line 2: 'apology' is not a list"},
      {"greetings = [\"hi\"]\n", "phrases.toml line 1: unknown 'greetings'"},
      {"\n\ngreeting = [\"hi\", \"^|\"]\n",
       "phrases.toml line 3: a phrase of 'greeting' has no word"},
      {"emoticon = [\":)\", \"\"]\n", "phrases.toml line 1: a phrase of 'emoticon' has no word"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.toml);
    const auto read = read_phrases(c.toml);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().kind == ErrorKind::config);
    CHECK(read.error().message == c.message);
    CHECK_FALSE(read.error().hint.empty());
  }
  const auto broken = read_phrases("greeting = [");
  REQUIRE_FALSE(broken.has_value());
  CHECK(broken.error().kind == ErrorKind::config);
  CHECK(broken.error().message.find("phrases.toml") != std::string::npos);
}

TEST_CASE("phrases.toml has all lists, and no phrase twice in a list") {
  const Phrases& phrases = shipped_phrases();
  CHECK(phrases.size() == 19);
  for (const auto& [name, list] : phrases) {
    CAPTURE(name);
    CHECK_FALSE(list.empty());
    std::set<std::string> once;
    for (const std::string& phrase : list) CHECK_MESSAGE(once.insert(phrase).second, phrase);
  }
}

}  // namespace

}  // namespace phrases_test
