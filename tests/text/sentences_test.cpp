#include "text/sentences.h"

#include <doctest/doctest.h>

#include <string>

namespace sentences_test {

using namespace stoka::text;

namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  for (const Span& span : sentences(text)) out.emplace_back(span.in(text));
  return out;
}

}  // namespace

TEST_CASE("sentences end at stops, but not at those of abbreviations and numbers") {
  using List = std::vector<std::string>;
  struct {
    std::string_view text;
    List expected;
  } cases[] = {
      {"", {}},
      {"  \n ", {}},
      {"No stop at all", {"No stop at all"}},
      {"One. Two! Three?", {"One.", "Two!", "Three?"}},
      {"a terminal. i know everything published here. ask something or don't. which?",
       {"a terminal.", "i know everything published here.", "ask something or don't.", "which?"}},
      {"See e.g. the log, i.e. this. Next.", {"See e.g. the log, i.e. this.", "Next."}},
      {"Mr. Smith met Dr. Who.", {"Mr. Smith met Dr. Who."}},
      {"Version v2.1 and 3.4.10. Then 3.5 came.", {"Version v2.1 and 3.4.10.", "Then 3.5 came."}},
      {"It cost 3.50. We paid.", {"It cost 3.50.", "We paid."}},
      {"In 2024. Then.", {"In 2024.", "Then."}},
      {"Wait... what? Yes… It is.", {"Wait... what?", "Yes…", "It is."}},
      {"He said \"stop.\" Then left.", {"He said \"stop.\"", "Then left."}},
      {"“Why?” he asked. (Nobody knew.) Fine.", {"“Why?” he asked.", "(Nobody knew.)", "Fine."}},
      {"J. K. Rowling wrote. U.S. Army too.", {"J. K. Rowling wrote.", "U.S. Army too."}},
      {"Cats, dogs, etc. are fine. Pens etc. Then ink.",
       {"Cats, dogs, etc. are fine.", "Pens etc.", "Then ink."}},
      {"See fig. 3 and no. 5. The answer is no. Really.",
       {"See fig. 3 and no. 5.", "The answer is no.", "Really."}},
      {"1. First thing. 2. Second.", {"1. First thing.", "2. Second."}},
      {"What?! Never!!! ok", {"What?!", "Never!!!", "ok"}},
      {"a heading\n\na paragraph", {"a heading", "a paragraph"}},
      {"one\nline", {"one\nline"}},
      {"node.js is fine. if (a != b) go.", {"node.js is fine.", "if (a != b) go."}},
      {"今日は。元気？はい！", {"今日は。", "元気？", "はい！"}},
      {"「行く。」と言った。", {"「行く。」", "と言った。"}},
      {"यह है। वह है।", {"यह है।", "वह है।"}},
      {"So did I. We left.", {"So did I.", "We left."}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(split(c.text) == c.expected);
  }
}

TEST_CASE("count_sentences ignores sentences without a word") {
  CHECK(count_sentences("") == 0);
  CHECK(count_sentences("One. Two. ...") == 2);
  CHECK(count_sentences("noted.") == 1);
}

TEST_CASE("every visible byte is in exactly one sentence, for any text") {
  std::string hostile[] = {std::string(20'000, '.'), std::string(20'000, ' ') + "a.",
                           "a." + std::string(20'000, ' ') + "b", std::string(9'999, '(')};
  std::string stops;
  for (int i = 0; i < 5'000; ++i) stops += "a. ";
  for (const std::string& text : {hostile[0], hostile[1], hostile[2], hostile[3], stops}) {
    std::string joined, visible;
    size_t last = 0;
    for (const Span& span : sentences(text)) {
      REQUIRE(span.begin >= last);
      REQUIRE(span.end > span.begin);
      last = span.end;
      for (char c : span.in(text))
        if (c != ' ') joined += c;
    }
    for (char c : text)
      if (c != ' ') visible += c;
    CHECK(joined == visible);
  }
}

}  // namespace sentences_test
