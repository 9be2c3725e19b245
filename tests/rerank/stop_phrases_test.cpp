#include "rerank/stop_phrases.h"

#include <doctest/doctest.h>

namespace stop_phrases_test {

using namespace stoka;

namespace {

// The words that do not belong to a stop phrase.
std::string remaining(std::string_view question) {
  const std::vector<text::Word> words = text::words(question);
  const std::vector<bool> is_stop_phrase = rerank::find_stop_phrases(words);
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    if (!is_stop_phrase[i]) out += (out.empty() ? "" : " ") + words[i].text;
  return out;
}

}  // namespace

TEST_CASE("stop phrases are found, and the same words on their own are not") {
  struct {
    const char *question, *expected;
  } const cases[] = {
      {"what do you think about limits", "what do you limits"},
      {"your opinion on retries please", "your retries"},
      {"list your five best articles about agents as bullet points", "five about agents"},
      {"agents, with an emoji", "agents"},
      // On their own these words are what the question is about.
      {"how does rendering of emoji work", "how does rendering of emoji work"},
      {"linked list", "linked list"},
      {"what is a bullet", "what is a bullet"},
      {"best practice", "best practice"},
      {"do machines think", "do machines think"},
      {"", ""},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.question));
    CHECK(remaining(c.question) == c.expected);
  }
}

TEST_CASE(
    "a question is foreign if it has two or more foreign stop words, and more than English ones") {
  for (const char* text :
       {"est-ce que SQLite suffit vraiment en production ?", "wie macht ihr eure Backups?",
        "qu\u00e9 es Debono y para qui\u00e9n?", "vad \u00e4r Kvitto och vem har gjort det?"}) {
    CAPTURE(std::string(text));
    CHECK(rerank::is_foreign(text::words(text)));
  }
  for (const char* text :
       {"which OS do you use?", "do agents use CI?", "is there a MAS product?",
        "what do you think about VAR and OS limits?", "tell me about sein and zeit", "tu", ""}) {
    CAPTURE(std::string(text));
    CHECK(!rerank::is_foreign(text::words(text)));
  }
}

}  // namespace stop_phrases_test
