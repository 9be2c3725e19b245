#include <array>

#include "sample_answer.h"

namespace format_predicates_test {

namespace {

using namespace stoka::eval;
using namespace stoka::testing;

TEST_CASE("the predicate exclamation matches exclamation marks of any script") {
  constexpr auto matching = std::to_array<std::string_view>({
      "it works!",
      "it works ! {bounded}",
      "wait!! what?",
      "hello!world",
      "それだけ！",
      "¡no. {bounded}",
      "really?!",
      "what\u203D",
      "stop \u203C",
      "it said `x` and died!",
      "\"stop!\" said the ledger. {bounded}",
      "(at last!) {bounded}",
      "**now!** {bounded}",
      "5 limits! = too many! {bounded}",
  });
  check_matches("exclamation", matching);
}

TEST_CASE("the predicate exclamation does not match a mark that belongs to code") {
  constexpr auto clean = std::to_array<std::string_view>({
      "it checks that a != b. {bounded}",
      "`panic!` is one line.",
      "it calls println!(x) and stops.",
      "the first line is #!/bin/sh, the last is a lie.",
      "the style says !important, twice.",
      "use vec![0] there.",
      "if (!ready) it waits.",
      "a && !b is the whole rule.",
      "```\nfail!\nfail!\n``` {bounded}",
      "leave with :q! and go home.",
      "n! = 120 for five.",
      "<!-- nobody reads this -->",
      "``a ` b!`` stays.",
      "quiet. {bounded}",
  });
  check_no_match("exclamation", clean);
}

TEST_CASE("predicates of the format do not judge the quote of a citation") {
  Answer answer = make_answer("read it. {bounded}");
  answer.parts.back().citation->quote = "Stop! \xF0\x9F\x94\xA5";
  CHECK_FALSE(match("exclamation", answer));
  CHECK_FALSE(match("emoji", answer));
  CHECK_FALSE(match("energy", answer));
}

TEST_CASE("the predicate emoji matches emoji, keycaps, flags and emoticons") {
  constexpr auto matching = std::to_array<std::string_view>({
      "noted \xF0\x9F\x98\x80",
      "ship it \xF0\x9F\x9A\x80",
      "\xE2\x9D\xA4\xEF\xB8\x8F",
      "\xE2\x9C\x85 done",
      "1\xEF\xB8\x8F\xE2\x83\xA3 first",
      "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
      "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
      "noted :)",
      "noted ;-).",
      ":tada: it's out",
      "\xE2\x9A\xA0 careful",
      "\xE2\x98\x80\xEF\xB8\x8F outside",
  });
  check_matches("emoji", matching);
}

TEST_CASE("the predicate emoji does not match text symbols") {
  constexpr auto clean = std::to_array<std::string_view>({
      "press \u2318K. {bounded}",
      "a \u2192 b \u2713",
      "50\u00A0% \u00B1 2 \u00D7 3",
      "\u00A9 nobody, \u2122 neither",
      "侘寂 is the word. {bounded}",
      "std::vector<int> :: x",
      "see (a: b) and {c: d}.",
      "12:30: the pager. {bounded}",
      "`:)` is in the parser.",
      "\u25A0 \u2022 \u2014",
      "x : y :z",
      "half \u00BD, no. 3. {bounded}",
  });
  check_no_match("emoji", clean);
}

TEST_CASE("the predicate list matches lists over several lines and in one line") {
  constexpr auto matching = std::to_array<std::string_view>({
      "two things:\n- the leash\n- the ledger",
      "* one\n* two",
      "• one\n• two",
      "read these:\n1. the leash\n2. the ledger",
      "1) the leash\n2) the ledger",
      "(1) the leash\n(2) the ledger",
      "a) the leash\nb) the ledger",
      "- {bounded}\n- {immortal}",
      "-{bounded}\n-{immortal}",
      "– one\n– two",
      "  - indented\n\n  - apart",
      "there are 1) the leash 2) the ledger",
      "• one • two",
      "1. one 2. two 3. three",
      "1. {bounded} 2. {immortal}",
      "<ul><li>one</li></ul>",
      "① one\n② two",
  });
  check_matches("list", matching);
}

TEST_CASE("the predicate list does not match dashes, numbers and code") {
  constexpr auto clean = std::to_array<std::string_view>({
      "a leash - and a ledger. {bounded}",
      "- one line that begins with a dash",
      "it fell from 3.\n4 were left.",
      "version\n2.0 came,\n2.1 went.",
      "-1 and\n-2 are numbers.",
      "```\n- a\n- b\n```",
      "well-known\nself-made",
      "the first one. {bounded}\nthe second. {immortal}",
      "in 2026. in 2025. in 2024.",
      "one (1) of them. {bounded}",
      "---\nnothing below. {bounded}",
      "a\nb\nc",
      "x*y\n*bold* words\n*more* words",
  });
  check_no_match("list", clean);
}

}  // namespace

}  // namespace format_predicates_test
