#include <array>

#include "sample_answer.h"

namespace measure_test {

namespace {

using namespace stoka;
using namespace stoka::eval;

TEST_CASE("sentences are counted as a reader does, and citations part them") {
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
    CHECK(longest_run(said(c.text)) == c.run);
  }
}

TEST_CASE("long is more than three sentences before a citation") {
  constexpr auto held = std::to_array<std::string_view>({
      "one. two. three. four. {bounded}",
      "one. two. three. four.",
      "{bounded} one. two. three. four. {immortal}",
      "one? two? three? four? {bounded}",
      "one… Two. three. four! {bounded}",
      "一。二。三。四。 {bounded}",
      "one.\n\ntwo\n\nthree\n\nfour {bounded}",
      "a b. c d. e f. g h. i j. {bounded} and {immortal}",
  });
  check_held("long", held);
  constexpr auto free = std::to_array<std::string_view>({
      "one. two. three. {bounded}",
      "one. two. three.",
      "{bounded} one. two. three. four.",
      "v2.1, v2.2. e.g. both. i.e. all. {bounded}",
      "wait... and wait... and stop. really. {bounded}",
      "one. {bounded} two. three. {immortal} four. five.",
      "3.4.10 cost 38.50 euros. Mr. Tern paid. {bounded}",
      "",
  });
  check_free("long", free);
}

TEST_CASE("a canned line has no citation and may have four sentences") {
  Answer answer = said("a terminal. i know everything published here. ask or don't. which?");
  CHECK(judged("long", answer));
  CHECK(judged("summary", answer));
  answer.route = Route::meta;
  CHECK_FALSE(judged("long", answer));
  CHECK_FALSE(judged("summary", answer));
}

TEST_CASE("a summary retells in place of citing") {
  constexpr auto held = std::to_array<std::string_view>({
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
  check_held("summary", held);
  constexpr auto free = std::to_array<std::string_view>({
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
  check_free("summary", free);
}

TEST_CASE("a citation repeats one of this answer or of an earlier turn") {
  CHECK(judged("repeat", said("{bounded} and {bounded}")));
  CHECK(judged("repeat", said("{bounded} and {immortal}. {bounded}")));
  CHECK_FALSE(judged("repeat", said("{bounded} and {immortal}")));
  CHECK_FALSE(judged("repeat", said("bounded, bounded.")));
  CHECK_FALSE(judged("repeat", said("")));
  Answer later = said("{bounded}");
  later.shown_before = {"immortal"};
  CHECK_FALSE(judged("repeat", later));
  later.shown_before.insert("bounded");
  CHECK(judged("repeat", later));
  CHECK_FALSE(judged("repeat", said("{bounded-two} {bounded}")));
}

}  // namespace

}  // namespace measure_test
