#include "rerank/scaffolding.h"

#include <doctest/doctest.h>

namespace scaffolding_test {

using namespace stoka;

namespace {

// The words that are left, stop words among them.
std::string content(std::string_view question) {
  const std::vector<text::Word> words = text::words(question);
  const std::vector<bool> wraps = rerank::scaffolding(words);
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    if (!wraps[i]) out += (out.empty() ? "" : " ") + words[i].text;
  return out;
}

}  // namespace

TEST_CASE("how something is asked is not what is asked for") {
  struct {
    const char *question, *left;
  } const cases[] = {
      {"what do you think about limits", "what do you limits"},
      {"your opinion on retries please", "your retries"},
      {"list your five best articles about agents as bullet points", "five about agents"},
      {"agents, with an emoji", "agents"},
      // By themselves they are what it is about.
      {"how does rendering of emoji work", "how does rendering of emoji work"},
      {"linked list", "linked list"},
      {"what is a bullet", "what is a bullet"},
      {"best practice", "best practice"},
      {"do machines think", "do machines think"},
      {"", ""},
  };
  for (const auto& c : cases) {
    CAPTURE(std::string(c.question));
    CHECK(content(c.question) == c.left);
  }
}

TEST_CASE("a question is in another language when more of its function words are") {
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

}  // namespace scaffolding_test
