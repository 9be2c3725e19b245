#include <doctest/doctest.h>

#include <map>

#include "session/interests.h"
#include "session/turn.h"

namespace session_test {

using namespace stoka;
using namespace std::chrono_literals;

namespace {

const Instant kNow{std::chrono::milliseconds(1'790'000'000'000)};

Hit hit_with_tags(std::vector<std::string> tags) {
  Hit hit;
  hit.chunk.tags = std::move(tags);
  return hit;
}

session::TagLookup tags_of(std::map<std::string, std::vector<std::string>> known) {
  return [known](std::string_view slug) {
    auto found = known.find(std::string(slug));
    return found == known.end() ? std::vector<std::string>() : found->second;
  };
}

}  // namespace

TEST_CASE("a session is stale two hours after its last turn") {
  Session session;
  session.last_active = kNow;
  CHECK(!session::is_stale(session, kNow + 2h));
  CHECK(session::is_stale(session, kNow + 2h + 1ms));
}

TEST_CASE("a new question sets the topic, a follow-up keeps it") {
  Session session;
  std::vector<Hit> hits = {hit_with_tags({"agents", "philosophy"})};
  CHECK(session::topic(Route::fresh, hits, session) == "agents");
  CHECK(session::topic(Route::followup, hits, session) == "agents");
  session.explored_topics = {"errors", "retrieval"};
  CHECK(session::topic(Route::followup, hits, session) == "retrieval");
  CHECK(session::topic(Route::fresh, hits, session) == "agents");
  CHECK(session::topic(Route::meta, hits, session) == "");
  CHECK(session::topic(Route::fresh, {}, session) == "");
}

TEST_CASE("a follow-up without a subject is searched with the last question that names one") {
  Session session;
  session.exchanges = {{"tell me about bounded execution", "", {}}, {"tell me more", "", {}}};
  CHECK(session::effective_query("why?", Route::followup, session) ==
        "tell me about bounded execution why?");
  CHECK(session::effective_query("what about retries", Route::followup, session) ==
        "what about retries");
  CHECK(session::effective_query("why?", Route::fresh, session) == "why?");
  CHECK(session::effective_query("why?", Route::followup, Session{}) == "why?");
}

TEST_CASE("a long query is searched only for its last questions") {
  std::string letter = "I have paid the invoices and seen the green tick. ";
  for (int i = 0; i < 20; ++i) letter += "We walk down the stairs once a year. ";
  const auto searched = [](const std::string& query) {
    return session::effective_query(query, Route::fresh, Session{});
  };
  const std::string asks = "How do I find out whether a backup can be restored?";
  CHECK(searched(letter + asks) == asks);
  CHECK(searched(letter + asks + " That is all. Why does nobody test restores?") ==
        asks + " Why does nobody test restores?");
  CHECK(searched(letter + "Could you tell me?") == letter + "Could you tell me?");
  CHECK(searched(letter + "What do you think?") == letter + "What do you think?");
  CHECK(searched(letter) == letter);
  const std::string shorter = "We have stairs. " + asks;
  CHECK(searched(shorter) == shorter);
}

TEST_CASE("declared interests weigh more than history, and history more than the page") {
  Visitor visitor;
  visitor.interests = {"infrastructure"};
  visitor.history = {{"post-a", kNow - 24h, 100}};
  PageContext page;
  page.page = "/blog/post-b?utm=1";
  auto found = session::interests(
      visitor, page, tags_of({{"post-a", {"agents", "infrastructure"}}, {"post-b", {"retrieval"}}}),
      kNow);
  REQUIRE(found.size() == 3);
  CHECK(found[0].tag == "infrastructure");
  CHECK(found[0].source == "declared");
  CHECK(found[1].tag == "agents");
  CHECK(found[2].tag == "retrieval");
  CHECK(found[2].weight > 0);
  CHECK(found[0].weight > found[1].weight);
  CHECK(found[1].weight > found[2].weight);
}

TEST_CASE("the weight of a page in the history decreases to zero over thirty days") {
  auto weight = [](std::chrono::hours age) {
    Visitor visitor;
    visitor.history = {{"post", kNow - age, 100}};
    auto found = session::interests(visitor, {}, tags_of({{"post", {"agents"}}}), kNow);
    return found.empty() ? 0.0 : found[0].weight;
  };
  CHECK(weight(0h) == doctest::Approx(0.6));
  CHECK(weight(24h * 15) == doctest::Approx(0.3));
  CHECK(weight(24h * 30) == 0.0);
  CHECK(weight(24h * 300) == 0.0);
}

TEST_CASE("slugs that the client has seen count as read today") {
  PageContext page;
  page.seen_slugs = {"post"};
  auto found = session::interests({}, page, tags_of({{"post", {"agents"}}}), kNow);
  REQUIRE(found.size() == 1);
  CHECK(found[0].source == "history");
}

}  // namespace session_test
