#include <array>

#include "sample_answer.h"

namespace content_predicates_test {

namespace {

using namespace stoka;
using namespace stoka::eval;
using namespace stoka::testing;

TEST_CASE("longest_run counts the sentences between citations as a reader does") {
  struct {
    std::string_view text;
    size_t run;
  } const cases[] = {
      {"", 0},
      {"v2.1 is out, e.g. on linux. it holds.", 2},
      {"one. two. {bounded} three.", 2},
      {"{bounded} one. two. three.", 3},
      {"one. {bounded} two. three. {immortal} four.", 2},
      {"it waits... then it stops. {bounded}", 1},
      {"{bounded}{immortal}", 0},
      {"one\ntwo, wrapped.", 1},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(longest_run(make_answer(c.text)) == c.run);
  }
}

TEST_CASE("the predicate long matches more than three sentences before a citation") {
  constexpr auto matching = std::to_array<std::string_view>({
      "one. two. three. four. {bounded}",
      "one. two. three. four.",
      "{bounded} one. two. three. four. {immortal}",
      "one? two? three? four? {bounded}",
      "one… Two. three. four! {bounded}",
      "一。二。三。四。 {bounded}",
      "one.\n\ntwo\n\nthree\n\nfour {bounded}",
      "a b. c d. e f. g h. i j. {bounded} and {immortal}",
  });
  check_matches("long", matching);
  constexpr auto clean = std::to_array<std::string_view>({
      "one. two. three. {bounded}",
      "one. two. three.",
      "{bounded} one. two. three. four.",
      "v2.1, v2.2. e.g. both. i.e. all. {bounded}",
      "wait... and wait... and stop. really. {bounded}",
      "one. {bounded} two. three. {immortal} four. five.",
      "3.4.10 cost 38.50 euros. Mr. Tern paid. {bounded}",
      "",
  });
  check_no_match("long", clean);
}

TEST_CASE("a canned reply may have four sentences without a citation") {
  Answer answer = make_answer("a terminal. i know everything published here. ask or don't. which?");
  CHECK(match("long", answer));
  CHECK(match("summary", answer));
  answer.route = Route::meta;
  CHECK_FALSE(match("long", answer));
  CHECK_FALSE(match("summary", answer));
}

TEST_CASE("the predicate summary matches an answer that retells a page instead of citing it") {
  constexpr auto matching = std::to_array<std::string_view>({
      "one. two. three. four.",
      "every agent gets a leash file with budget and deadline. autonomy without constraint is "
      "chaos "
      "with better marketing.",
      "each agent at halyard has a leash file naming budget and tools. the kernel checks the leash "
      "before each step and refuses others.",
      "the failure ledger remembers what broke. systems that describe their own death are "
      "immortal, "
      "not just lucky. it started small. it grew.",
      "one. two. {bounded} three. four. five.",
      "{bounded} one. two. three. four. five.",
      "one. two. three. {bounded} four. five. {immortal}",
      "a? b? c? d?",
  });
  check_matches("summary", matching);
  constexpr auto clean = std::to_array<std::string_view>({
      "which kind? the ones we planned for, or the ones that surprised us? {bounded} that essay is "
      "the theory. want the patch notes where it actually happened?",
      "an argument, not a manual. start with the part you would cut. {bounded}",
      "nothing here on that. yet.",
      "every agent gets a leash file with budget and deadline. which half do you not believe?",
      "do agents need a leash file with a budget, a deadline and tools? or a kernel that checks "
      "the "
      "leash before each step?",
      "{bounded}",
      "every agent gets a leash file with budget and deadline. {bounded} autonomy without "
      "constraint "
      "is chaos with better marketing.",
      "somebody wrote it down so that nobody has to ask twice. the second time for what it leaves "
      "out.",
      "",
  });
  check_no_match("summary", clean);
}

TEST_CASE("the predicate repeat matches a citation shown in the same answer or an earlier turn") {
  CHECK(match("repeat", make_answer("{bounded} and {bounded}")));
  CHECK(match("repeat", make_answer("{bounded} and {immortal}. {bounded}")));
  CHECK_FALSE(match("repeat", make_answer("{bounded} and {immortal}")));
  CHECK_FALSE(match("repeat", make_answer("bounded, bounded.")));
  CHECK_FALSE(match("repeat", make_answer("")));
  Answer later = make_answer("{bounded}");
  later.shown_before = {"immortal"};
  CHECK_FALSE(match("repeat", later));
  later.shown_before.insert("bounded");
  CHECK(match("repeat", later));
  CHECK_FALSE(match("repeat", make_answer("{bounded-two} {bounded}")));
}

struct Turn {
  std::string_view query;
  std::string_view answer;
};

TEST_CASE(
    "the predicate echo matches an answer that repeats the question or says that it was asked") {
  constexpr Turn matching[] = {
      {"what is bounded execution", "what is bounded execution? an essay. {bounded}"},
      {"why do agents need limits?", "Why do agents need limits? {bounded}"},
      {"why do agents need limits?", "you asked about limits. {bounded}"},
      {"why do agents need limits?", "so you want to know about limits. {bounded}"},
      {"why do agents need limits?", "agents and why they need limits: {bounded}"},
      {"how does the deck pipeline handle errors",
       "how the deck pipeline handles errors: {bounded}"},
      {"what did you learn from restore drills",
       "you want what was learned from restore drills? {bounded}"},
      {"how big should chunks be for retrieval?",
       "how big chunks should be for retrieval. {bounded}"},
      {"restore drills every month", "\"restore drills every month\". {bounded}"},
      {"why limit what an agent may do", "your question about agents is an old one. {bounded}"},
  };
  for (const Turn& turn : matching) {
    CAPTURE(turn.answer);
    CHECK(match("echo", make_answer(turn.answer, turn.query)));
  }
}

TEST_CASE("the predicate echo does not match an answer that only uses words of the question") {
  constexpr Turn clean[] = {
      {"tell me about bounded execution", "bounded execution. start with the part you would cut."},
      {"why do agents need limits?",
       "agents need limits for the reason children do: bills. {bounded}"},
      {"how do you handle failures?",
       "which kind? the ones we planned for, or the ones that surprised us? {immortal}"},
      {"what's your best blog post?", "depends what you think \"best\" means. {bounded}"},
      {"what is this?", "what is this? a terminal."},
      {"halyard", "halyard. {bounded}"},
      {"how does the deck pipeline handle errors",
       "the deck pipeline remembers its errors and stops. {bounded}"},
      {"what did you ask", "not quite what you asked. close enough to argue with. {bounded}"},
      {"does it scale", "your question has no page of its own. this one borders on it. {bounded}"},
      {"restore drills for backups", "backups that nobody could restore, hence drills. {bounded}"},
      {"", "it's written down. {bounded}"},
      {"?!", "it's written down. {bounded}"},
  };
  for (const Turn& turn : clean) {
    const auto why = match("echo", make_answer(turn.answer, turn.query));
    CHECK_MESSAGE(!why, turn.answer << ": " << why.value_or(""));
  }
}

}  // namespace

}  // namespace content_predicates_test
