// Sessions and visitors that are changed concurrently.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "store/contract.h"
#include "store/corpus.h"

namespace contract_sharing_test {

using namespace stoka;
using namespace stoka::store;

namespace {

TurnRecord turn(const std::string& session, const std::string& visitor, int number) {
  TurnRecord record;
  record.session_id = uuid(session);
  record.visitor_id = uuid(visitor);
  record.at = Instant(std::chrono::milliseconds(number));
  record.exchange.user = "question " + std::to_string(number);
  record.cited_slugs = {"slug-" + std::to_string(number)};
  return record;
}

// Stores all turns with that many threads, half of them through another store.
void commit(const ContractStore& store, const std::vector<TurnRecord>& turns, int threads) {
  const auto second = store.open();
  std::vector<std::string> errors(turns.size());
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      Store& mine = thread % 2 ? *store : *second;
      for (auto i = static_cast<size_t>(thread); i < turns.size();
           i += static_cast<size_t>(threads)) {
        const auto session = mine.commit_turn(turns[i]);
        if (!session) errors[i] = session.error().message;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const std::string& error : errors) CHECK(error == "");
}

}  // namespace

TEST_CASE("fifty concurrent turns of a session are all stored") {
  const ContractStore store;
  std::vector<TurnRecord> turns;
  for (int i = 0; i < 50; ++i) turns.push_back(turn("s", "v", i));
  commit(store, turns, std::min(50, store.max_callers()));
  const auto session = *store->session(uuid("s"));
  REQUIRE(session);
  CHECK(session->turns == 50);
  CHECK(std::set<std::string>(session->shown_slugs.begin(), session->shown_slugs.end()).size() ==
        50);
  CHECK(session->exchanges.size() == 10);
}

TEST_CASE("a subject used by twenty visitors concurrently gets one visitor with all their data") {
  const ContractStore store;
  std::vector<TurnRecord> turns;
  for (int i = 0; i < 20; ++i) {
    const std::string visitor = "v" + std::to_string(i);
    // Half of the visitors exist already, without a subject.
    if (i % 2) {
      const Instant now{std::chrono::milliseconds(i)};
      const HistoryEntry read[] = {{"page-" + std::to_string(i), now, 50}};
      REQUIRE(store->update_visitor(uuid(visitor), std::vector<std::string>{std::to_string(i)},
                                    read, now));
      REQUIRE(store->commit_turn(turn("old" + std::to_string(i), visitor, i)));
    }
    turns.push_back(turn("s" + std::to_string(i), visitor, 100 + i));
    turns.back().subject = "auth|1";
  }
  commit(store, turns, std::min(20, store.max_callers()));
  const auto visitors = store->visitors_after("", 100);
  REQUIRE(visitors);
  REQUIRE(visitors->size() == 1);
  const Visitor& owner = visitors->front();
  CHECK(owner.subject == "auth|1");
  CHECK(owner.history.size() == 10);
  CHECK(std::set<std::string>(owner.interests.begin(), owner.interests.end()).size() == 10);
  const auto sessions = store->sessions_after("", 100);
  REQUIRE(sessions);
  CHECK(sessions->size() == 30);
  for (const Session& session : *sessions) {
    CHECK(session.visitor_id == owner.id);
    CHECK(session.turns == 1);
  }
}

TEST_CASE("concurrent turns and readings of a visitor are all stored") {
  const ContractStore store;
  const auto second = store.open();
  std::string complaint;
  std::thread reads([&] {
    for (int i = 0; i < 20 && complaint.empty(); ++i) {
      const Instant now{std::chrono::milliseconds(i)};
      const HistoryEntry read[] = {{"page-" + std::to_string(i), now, 50}};
      const auto visitor = second->update_visitor(uuid("v"), std::nullopt, read, now);
      if (!visitor) complaint = visitor.error().message;
    }
  });
  for (int i = 0; i < 20; ++i) {
    const auto session = store->commit_turn(turn("s" + std::to_string(i), "v", i));
    CHECK_MESSAGE(session, (session ? "" : session.error().message));
  }
  reads.join();
  CHECK(complaint == "");
  CHECK(store->visitor(uuid("v"))->value().history.size() == 20);
  CHECK(store->sessions_after("", 100)->size() == 20);
}

}  // namespace contract_sharing_test
