#include <array>

#include "sample_answer.h"
#include "text/utf8.h"

namespace grounding_predicates_test {

namespace {

using namespace stoka;
using namespace stoka::eval;
using namespace stoka::testing;

TEST_CASE(
    "the predicate ungrounded matches numbers, names, terms and quotations that were not "
    "retrieved") {
  constexpr auto matching = std::to_array<std::string_view>({
      "it cost 40 euros. {bounded}",
      "version 3.4.11 fixed it. {bounded}",
      "since 2019. {bounded}",
      "OpenAI agrees, as does Google. {bounded}",
      "it saves 80% of the bill. {bounded}",
      "9 tools. {bounded}",
      "it was published in june. {bounded}",
      "read https://evil.example/ledger. {bounded}",
      "see example.com for that. {bounded}",
      "see /blog/made-up. {bounded}",
      "it calls drop_leash() first. {bounded}",
      "it is called `max_budget`. {bounded}",
      "the flag is --no-leash. {bounded}",
      "it runs on Kubernetes these days. {bounded}",
      "it runs on SQLite, Redis and hope. {bounded}",
      "the leashFile holds it. {bounded}",
      "it says \"every agent shall be clean to do whatever it likes\". {bounded}",
      "an 11 min read. {bounded}",
      "May was when Google bought it. {bounded}",
  });
  check_matches("ungrounded", matching);
}

TEST_CASE("what was retrieved or asked counts as grounded, and so do common words") {
  constexpr auto clean = std::to_array<std::string_view>({
      "it cost 38 euros. {bounded}",
      "3.4.10 did it. or was it 3.4? {bounded}",
      "1024 runs. {bounded}",
      "1,024 runs. {bounded}",
      "7 tools. {bounded}",
      "first the budget, 2nd the deadline. {bounded}",
      "published in april 2026, an 8 min read. {bounded}",
      "read https://stoka.example/ledger. {bounded}",
      "see /blog/bounded. {bounded}",
      "it calls check_leash() first. {bounded}",
      "it calls `check_leash()` first. {bounded}",
      "it runs at Halyard's expense, on SQLite. {bounded}",
      "The Agent decides. I don't. {bounded}",
      "Depends. Which half? {bounded}",
      "it says: Nothing else. {bounded}",
      "on a Friday? {bounded}",
      "it \"can't describe its own death\", it says. {immortal}",
      "depends what you think \"best\" means. {bounded}",
      "one line of it answers you. the rest argues. {bounded}",
      "limits and/or agents, client/server, e.g. this. {bounded}",
      "you may march on. {bounded}",
      "it NEVER stops. {bounded}",
      "",
  });
  check_no_match("ungrounded", clean);
}

TEST_CASE("the reason for an unknown quotation has only whole characters") {
  std::string text = "it says \"ab  cd ef gh ij kl ";
  for (int i = 0; i < 60; ++i) text += "\u00E9";
  const auto why = match("ungrounded", make_answer(text + "\". {bounded}"));
  REQUIRE(why);
  CHECK(text::is_valid_utf8(*why));
}

TEST_CASE("what the question or a citation says counts as grounded") {
  CHECK(match("ungrounded", make_answer("what does Plumb cost, 99 euros? {bounded}")));
  CHECK_FALSE(match("ungrounded",
                    make_answer("what does Plumb cost, 99 euros? {bounded}", "is Plumb 99 euros")));
  Answer answer = make_answer("the one about Tern and 12 deploys. {bounded}");
  CHECK(match("ungrounded", answer));
  answer.parts[1].citation->quote = "Tern took 12 deploys.";
  CHECK_FALSE(match("ungrounded", answer));
}

TEST_CASE("if the confidence is nothing, only the canned reply counts as grounded") {
  Answer answer = make_answer("agents, probably.");
  answer.confidence = Confidence::nothing;
  CHECK(match("ungrounded", answer));
  answer.route = Route::nothing;
  CHECK_FALSE(match("ungrounded", answer));
}

TEST_CASE("the predicate invented matches a citation that was not retrieved and a visible tag") {
  constexpr auto matching = std::to_array<std::string_view>({
      "look. {made-up}",
      "{bounded} {Bounded}",
      "look <cite slug=\"bounded\" quote=\"x\"/>",
      "look <CITE slug=bounded>",
      "look </cite>",
      "slug=\"bounded\" quote=\"x\"",
      "quote='x'/>",
      "look /> there",
      "look [cite: bounded]",
      "&lt;cite slug=bounded",
      "`<cite slug=\"bounded\"/>`",
      "look ＜cite there",
  });
  check_matches("invented", matching);
  constexpr auto clean = std::to_array<std::string_view>({
      "look. {bounded} {immortal}",
      "it cites a < b and b > a.",
      "`<br/>` is a tag. `/>` ends it.",
      "write <br/> there.",
      "/blog?slug=bounded is the page.",
      "citing is not quoting. {bounded}",
      "the slug is the name. {bounded}",
      "a cite/quote pair. {bounded}",
      "",
  });
  check_no_match("invented", clean);
}

}  // namespace

}  // namespace grounding_predicates_test
