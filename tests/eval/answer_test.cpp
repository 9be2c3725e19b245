#include "eval/answer.h"

#include <doctest/doctest.h>

namespace answer_test {

namespace {

using namespace stoka;
using namespace stoka::eval;

CiteEvent cite(std::string slug) {
  CiteEvent out;
  out.citation.slug = std::move(slug);
  return out;
}

Answer read(const std::vector<Event>& events) {
  AnswerBuilder builder;
  for (const Event& event : events) builder.add(event);
  return builder.take();
}

TEST_CASE("events become the parts of an answer in the order shown") {
  const Answer answer =
      read({ReadyEvent{"s", "v", Route::followup}, TokenEvent{"one "}, TokenEvent{""},
            TokenEvent{"line."}, TokenEvent{"\n"}, cite("a"), TokenEvent{"\n"}, cite("b"),
            TokenEvent{" last."}, DoneEvent{1, Confidence::adjacent, 3}});
  CHECK(answer.route == Route::followup);
  CHECK(answer.confidence == Confidence::adjacent);
  REQUIRE(answer.parts.size() == 4);
  CHECK(answer.parts[0].text == "one line.\n");
  CHECK(answer.parts[1].citation->slug == "a");
  CHECK(answer.parts[2].citation->slug == "b");
  CHECK(answer.text() == "one line.\n\nlast.");
  REQUIRE(answer.citations().size() == 2);
  CHECK(answer.citations()[1].slug == "b");
  CHECK(answer.cites("a"));
  CHECK_FALSE(answer.cites("c"));
  CHECK_FALSE(answer.is_canned());
}

TEST_CASE("white space after the last citation is dropped") {
  for (const Event& last : std::vector<Event>{DoneEvent{}, ErrorEvent{"gone", true}}) {
    const Answer answer = read({TokenEvent{"here."}, cite("a"), TokenEvent{" \n"}, last});
    REQUIRE(answer.parts.size() == 2);
    CHECK(answer.parts.back().citation.has_value());
  }
}

TEST_CASE("neither a leading citation nor an empty answer leaves a blank line") {
  CHECK(read({cite("a"), TokenEvent{"\nso."}, DoneEvent{}}).text() == "so.");
  CHECK(read({DoneEvent{}}).text().empty());
  CHECK(read({DoneEvent{}}).parts.empty());
}

TEST_CASE("replies of the routes meta, offtopic and void are canned") {
  for (const auto& [route, canned] :
       {std::pair{Route::meta, true}, std::pair{Route::offtopic, true},
        std::pair{Route::nothing, true}, std::pair{Route::followup, false},
        std::pair{Route::fresh, false}}) {
    CHECK(read({ReadyEvent{"s", "v", route}}).is_canned() == canned);
  }
}

}  // namespace

}  // namespace answer_test
