// Visitors who leave, who do not read, and a store that takes nothing.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include "chat_house.h"
#include "puppet.h"
#include "serve/chat_stream.h"

namespace chat_stream_leaving_test {

using namespace stoka;
using namespace stoka::test;

namespace {

constexpr const char* kSession = "11111111-1111-4111-8111-11111111111a";

// Another one at the database of a house.
class Intruder {
 public:
  explicit Intruder(const ChatHouse& house) {
    const std::string path = house.parts.url.substr(std::string("sqlite:").size());
    REQUIRE(sqlite3_open(path.c_str(), &handle_) == SQLITE_OK);
  }
  ~Intruder() { sqlite3_close(handle_); }
  void run(const char* sql) {
    REQUIRE(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  }

 private:
  sqlite3* handle_ = nullptr;
};

const Json kAsked = {{"query", kQuestion}, {"session_id", kSession}};

std::optional<Session> kept(const ChatHouse& house) {
  return house.parts.store->session(kSession).value();
}

}  // namespace

TEST_CASE("a visitor who leaves the queue is not asked for, and keeps nobody waiting") {
  Puppet model;
  GateOptions one;
  one.places = 1;
  ChatHouse house({.generator = model.url(), .gate = one});
  ChatClient first = house.asking(kQuestion);
  Puppet::Asked answering = model.next();
  ChatClient second = house.asking(kAsked);
  CHECK(eventually([&] { return house.metric("stoka_gate_waiting") == 1; }));
  ChatClient third = house.asking("tell me about latency as manners");
  CHECK(eventually([&] { return house.metric("stoka_gate_waiting") == 2; }));
  second.leave();
  CHECK(eventually([&] { return house.metric("stoka_gate_waiting") == 1; }));
  answering.head();
  answering.say("limits.");
  answering.finish();
  CHECK(hear(first).last().name == "done");
  Puppet::Asked next = model.next();
  CHECK(next.body.find("latency as manners") != std::string::npos);
  next.head();
  next.say("soon.");
  next.finish();
  CHECK(hear(third).last().name == "done");
  CHECK(eventually([&] { return house.quiet(); }));
  CHECK_FALSE(kept(house));
  CHECK(house.metrics.requests("/api/stoka/chat", 499).value() == 1);
}

TEST_CASE("a visitor who leaves before anything was said leaves nothing behind") {
  Puppet model;
  ChatHouse house({.generator = model.url()});
  ChatClient client = house.asking(kAsked);
  Puppet::Asked asked = model.next();
  client.leave();
  CHECK(asked.left());
  CHECK(eventually([&] { return house.quiet(); }));
  CHECK_FALSE(kept(house));
  CHECK(house.metrics.requests("/api/stoka/chat", 499).value() == 1);
}

TEST_CASE("what a visitor heard before leaving is kept, once") {
  for (const bool heard : {false, true}) {
    CAPTURE(heard);
    Puppet model;
    ChatHouse house({.generator = model.url()});
    ChatClient client = house.asking(kAsked);
    Puppet::Asked asked = model.next();
    asked.head();
    client.read_head();
    CHECK(client.event()->name == "ready");
    if (heard) asked.say("limits first");
    if (heard) CHECK(client.event()->name == "token");
    CHECK(house.metrics.open_streams.value() == 1);
    CHECK(house.metric("stoka_gate_taken") == 1);
    client.leave();
    CHECK(asked.left());
    CHECK(eventually([&] { return house.quiet(); }));
    REQUIRE(eventually([&] { return kept(house).has_value(); }));
    CHECK(kept(house)->turns == 1);
    CHECK(kept(house)->exchanges.size() == (heard ? 1 : 0));
    if (heard) CHECK(kept(house)->exchanges[0].assistant == "limits first [cut off]");
    CHECK(house.metrics.streams(serve::Metrics::End::left).value() == 1);
    CHECK(house.ask("hi").last().name == "done");
  }
}

TEST_CASE("a visitor who leaves while the turn is saved has it saved, once") {
  Puppet model;
  ChatHouse house({.generator = model.url()});
  ChatClient client = house.asking(kAsked);
  Puppet::Asked asked = model.next();
  Intruder intruder(house);
  intruder.run("BEGIN IMMEDIATE");
  asked.head();
  asked.say("limits first.");
  asked.finish();
  client.read_head();
  CHECK(client.event()->name == "ready");
  CHECK(client.event()->name == "token");
  // The place is free before the turn is saved.
  CHECK(eventually([&] { return house.metric("stoka_gate_taken") == 0; }));
  client.leave();
  CHECK(eventually([&] { return house.quiet(); }));
  CHECK_FALSE(kept(house));
  intruder.run("ROLLBACK");
  REQUIRE(eventually([&] { return kept(house).has_value(); }));
  CHECK(kept(house)->turns == 1);
  CHECK(kept(house)->exchanges[0].assistant == "limits first.");
  CHECK(house.metrics.streams(serve::Metrics::End::left).value() == 1);
  CHECK(house.metrics.streams(serve::Metrics::End::done).value() == 0);
}

TEST_CASE("a turn that cannot be saved is answered all the same") {
  ChatHouse house;
  house.server();
  Intruder intruder(house);
  intruder.run(
      "CREATE TRIGGER refuse BEFORE INSERT ON stoka_sessions "
      "BEGIN SELECT RAISE(ABORT, 'refused'); END");
  for (const char* query : {kQuestion, "hi"}) {
    const Talk said = house.ask(query);
    REQUIRE(said.well_formed());
    CHECK(said.last().name == "done");
    CHECK(said.last().data["turns"] == 1);
    CHECK(said.text() != "");
  }
  CHECK(house.metrics.turns_not_saved.value() == 2);
  CHECK(house.journal_text().find("this turn was not saved") != std::string::npos);
}

}  // namespace chat_stream_leaving_test
