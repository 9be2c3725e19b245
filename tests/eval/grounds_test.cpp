#include <array>

#include "sample_answer.h"

namespace grounds_test {

namespace {

using namespace stoka;
using namespace stoka::eval;

TEST_CASE("numbers, names, terms and quotations that were not retrieved are ungrounded") {
  constexpr auto held = std::to_array<std::string_view>({
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
      "it says \"every agent shall be free to do whatever it likes\". {bounded}",
      "an 11 min read. {bounded}",
      "May was when Google bought it. {bounded}",
  });
  check_held("ungrounded", held);
}

TEST_CASE("what was retrieved, asked or is nobody's name is grounded") {
  constexpr auto free = std::to_array<std::string_view>({
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
  check_free("ungrounded", free);
}

TEST_CASE("a question and a citation are grounds too") {
  CHECK(judged("ungrounded", said("what does Plumb cost, 99 euros? {bounded}")));
  CHECK_FALSE(
      judged("ungrounded", said("what does Plumb cost, 99 euros? {bounded}", "is Plumb 99 euros")));
  Answer answer = said("the one about Tern and 12 deploys. {bounded}");
  CHECK(judged("ungrounded", answer));
  answer.parts[1].citation->quote = "Tern took 12 deploys.";
  CHECK_FALSE(judged("ungrounded", answer));
}

TEST_CASE("where nothing was found only the canned line is grounded") {
  Answer answer = said("agents, probably.");
  answer.confidence = Confidence::nothing;
  CHECK(judged("ungrounded", answer));
  answer.route = Route::nothing;
  CHECK_FALSE(judged("ungrounded", answer));
}

}  // namespace

}  // namespace grounds_test
