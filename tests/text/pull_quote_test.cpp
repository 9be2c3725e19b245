#include "text/pull_quote.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "text/normalize.h"

namespace pull_quote_test {

using stoka::text::best_sentence;
using stoka::text::clip;
using stoka::text::collapse_whitespace;
using stoka::text::count_code_points;
using stoka::text::kMaxQuoteLength;

TEST_CASE("the sentence that makes the best quote is chosen") {
  struct Case {
    const char* name;
    std::string content;
    std::string_view query;
    std::string_view best;
  };
  const Case table[] = {
      {"the only one", "Deploys are boring.", "", "Deploys are boring."},
      {"no content", " \n\t ", "q", ""},
      {"the query decides",
       "Most teams ship on Fridays because the calendar says so. A kill switch is worth more than "
       "any dashboard you own.",
       "kill switches", "A kill switch is worth more than any dashboard you own."},
      {"by stem and case",
       "The river runs past the old mill every single day. Failures deserve names as much as "
       "features ever did.",
       "how do you name a FAILURE?", "Failures deserve names as much as features ever did."},
      {"the first of equals", "The cat sat on the red mat today. The dog sat on the red mat today.",
       "", "The cat sat on the red mat today."},
      {"no start that depends on the sentence before",
       "This is what nobody told us about queues then. A queue without a limit is a promise nobody "
       "can keep.",
       "", "A queue without a limit is a promise nobody can keep."},
      {"no heading",
       "Bounded execution\n\nSmall limits make large systems honest about themselves.",
       "bounded execution", "Small limits make large systems honest about themselves."},
      {"no code", "run = agents.map(a => a.run());\n\nEvery agent had a switch. ", "run agents",
       "Every agent had a switch."},
      {"no table", "| agent | limit | and | a | lot | of | columns |.\n\nLimits help.",
       "agent limit", "Limits help."},
      {"no link", "Read more on https://example.com/agents about all our agents. Agents rest.",
       "agents", "Agents rest."},
      {"no announcement", "Here is a list of all agents that we run in parallel:\n\nAgents rest.",
       "agents", "Agents rest."},
      {"no question while there is a statement",
       "What would an agent do with no limit at all on its time? Limits.", "agent limit",
       "Limits."},
      {"a question rather than code", "Why would you?\n\nfoo(); bar = {};", "", "Why would you?"},
      {"a question when there is nothing else", "Why would you?", "x", "Why would you?"},
      {"no exclamation", "Agents with limits are the best thing since sliced bread! Really. Fine.",
       "agents limits", "Really."},
      {"no emoji", "Agents with limits win every time \U0001F389. Foo bar.", "agents", "Foo bar."},
      {"an exclamation when there is nothing else", "Ship it!", "x", "Ship it!"},
      {"no list marker", "- Agents with a budget stop before they do any real harm.", "",
       "Agents with a budget stop before they do any real harm."},
      {"white space squeezed", "Autonomy without\n   constraint is\tchaos.", "",
       "Autonomy without constraint is chaos."},
      {"no damage",
       "Agents with a bud\uFFFDet stop before they do any real harm. See https://x.example/!",
       "agents", "See https://x.example/!"},
      {"damage when there is nothing else", "Caf\uFFFD au lait.", "", "Caf\uFFFD au lait."},
      {"one sentence of Japanese", "猫は窓辺で眠る。", "猫", "猫は窓辺で眠る。"},
      {"Japanese speech", "「猫は窓辺で眠る。」\n\n犬", "猫", "「猫は窓辺で眠る。」"},
      {"not English", "東京は大きい。大阪は食べ物が美味しい。", "大阪", "大阪は食べ物が美味しい。"},
  };
  for (const Case& c : table) {
    CAPTURE(c.name);
    const std::string best = best_sentence(c.content, c.query);
    CHECK(best == c.best);
    CHECK(collapse_whitespace(c.content).find(best) != std::string::npos);
  }
}

TEST_CASE("code is never quoted, but a sentence that introduces it may be") {
  struct Case {
    const char* name;
    std::string_view content, query, best;
  };
  const Case table[] = {
      {"nothing but code", "    rustup update stable", "update", ""},
      {"flattened code", R"(printf("one\n"); printf("two\n"))", "printf", ""},
      {"prose beside code", "    agents.run();\n\nLimits help.", "agents run", "Limits help."},
      {"the sentence that introduces the command",
       "Rust is a language that empowers everyone to build software that is reliable.\n\nIf you "
       "have Rust from rustup, "
       "you can get the new version with:\n\n    rustup update stable\n\nRust empowers everyone.",
       "how do i update rust?", "If you have Rust from rustup, you can get the new version with:"},
      {"not a word that introduces it",
       "The compiler is brought up to date by rustup.\n\nRun:\n\n    rustup update",
       "how do i update rust?", "The compiler is brought up to date by rustup."},
      {"not what introduces other code",
       "You can see all of the agents that are there with:\n\n    ps\n\nLimits keep a system "
       "honest about what it can do.",
       "limits", "Limits keep a system honest about what it can do."},
      {"a command in a sentence", "Run rustup update stable to update the compiler to the newest.",
       "update rust", "Run rustup update stable to update the compiler to the newest."},
  };
  for (const Case& c : table) {
    CAPTURE(c.name);
    CHECK(best_sentence(c.content, c.query) == c.best);
  }
}

TEST_CASE("a sentence that is too long is clipped") {
  std::string endless;
  for (int i = 0; i < 500; ++i) endless += "word" + std::to_string(i) + " ";
  const std::string best = best_sentence(endless, "word7");
  CHECK(count_code_points(best) <= kMaxQuoteLength);
  CHECK(count_code_points(best) > kMaxQuoteLength - 12);
  CHECK(collapse_whitespace(endless).starts_with(best + " "));
}

TEST_CASE("clip cuts after a clause, else after a word") {
  struct Case {
    std::string_view text;
    size_t length;
    std::string_view clipped;
  };
  const Case table[] = {
      {"short", 10, "short"},
      {"exactly te", 10, "exactly te"},
      {"one two three", 9, "one two"},
      {"one two three", 7, "one two"},
      {"one two three four, five six", 26, "one two three four"},
      {"one, two three four five six", 26, "one, two three four five"},
      {"unbreakable", 5, "unbre"},
      {"größe über alles", 10, "größe über"},
      {"", 3, ""},
  };
  for (const Case& c : table) {
    CAPTURE(c.text);
    CHECK(clip(c.text, c.length) == c.clipped);
  }
}

}  // namespace pull_quote_test
