// A chat over the wire, when all goes well: events as they are sent, routes, sessions.
#include "serve/chat_stream.h"

#include <doctest/doctest.h>

#include <set>

#include "chat_house.h"
#include "puppet.h"

namespace chat_stream_test {

using namespace stoka;
using namespace stoka::test;
using testing::FakeUpstream;

namespace {

constexpr const char* kSession = "11111111-1111-4111-8111-11111111111a";
constexpr const char* kVisitor = "22222222-2222-4222-8222-22222222222b";

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string session_of(const Talk& said) {
  return said.events.at(0).data["session_id"].get<std::string>();
}

}  // namespace

TEST_CASE("events are on the wire as they are written down") {
  FakeUpstream model;
  ChatHouse house({.generator = model.url()});
  model.behave(
      R"({"answer":"Limits \"first\".\n<cite slug=\"philosophy-bounded-execution\" quote=\"A bound is a limit\"/>"})");
  const Talk said =
      house.ask({{"query", kQuestion}, {"session_id", kSession}, {"visitor_id", kVisitor}});
  CHECK(said.status == 200);
  CHECK(said.headers.at("content-type") == "text/event-stream");
  CHECK(said.headers.at("cache-control") == "no-cache");
  CHECK(said.headers.at("x-accel-buffering") == "no");
  CHECK(said.headers.at("transfer-encoding") == "chunked");
  CHECK(said.headers.contains("x-request-id"));
  CHECK_FALSE(said.headers.contains("content-length"));
  std::string expected =
      "event: ready\ndata: {\"session_id\":\"11111111-1111-4111-8111-11111111111a\","
      "\"visitor_id\":\"22222222-2222-4222-8222-22222222222b\",\"route\":\"new\"}\n\n";
  for (const char* text : {"Limi", "ts", " \\\"firs", "t\\\".", "\\n"})
    expected += std::string("event: token\ndata: {\"text\":\"") + text + "\"}\n\n";
  expected +=
      "event: cite\ndata: {\"slug\":\"philosophy-bounded-execution\","
      "\"title\":\"The Philosophy of Bounded Execution\","
      "\"quote\":\"A bound is a limit\","
      "\"type\":\"philosophy\",\"reading_time\":\"8 min\",\"date\":\"Apr 12\",\"score\":0.995,"
      "\"kind\":\"block\",\"url\":\"/blog/philosophy-bounded-execution"
      "#:~:text=A%20bound%20is%20a%20limit\",\"published\":\"2026-04-12\"}\n\n"
      "event: done\ndata: {\"turns\":1,\"confidence\":\"direct\",\"latency_ms\":0}\n\n";
  CHECK(said.raw == expected);
}

TEST_CASE("the embedded default answers, and the connection is good for another question") {
  ChatHouse house;
  ChatClient client(house.port());
  for (int turn = 1; turn <= 2; ++turn) {
    client.ask({{"query", kQuestion}});
    const Talk said = hear(client);
    REQUIRE(said.well_formed());
    CHECK(said.last().name == "done");
    CHECK(said.last().data["turns"] == 1);
    CHECK(said.cited() == std::vector<std::string>{"philosophy-bounded-execution"});
    CHECK(said.text() != "");
  }
  client.ask({{"query", kQuestion}}, "1.0");
  const Talk old = hear(client);
  CHECK_FALSE(old.headers.contains("transfer-encoding"));
  CHECK(old.last().name == "done");
  CHECK(client.closed());
}

TEST_CASE("every route is told in ready and in done") {
  ChatHouse house;
  struct Case {
    const char* query;
    const char* route;
    const char* confidence;
    const char* text;  // all of it; empty: some
  };
  const std::vector<Case> cases = {
      {kQuestion, "new", "direct", ""},
      {"and what about latency", "followup", "", ""},
      {"what is this?", "meta", "direct",
       "a terminal. i know everything published here. ask something or don't."},
      {"best javascript framework?", "offtopic", "direct", "wrong terminal."},
      {"quantum gravity research", "void", "nothing", "nothing here on that. yet."},
  };
  for (const Case& item : cases) {
    CAPTURE(std::string(item.query));
    const Talk said = house.ask({{"query", item.query}, {"session_id", kSession}});
    CAPTURE(said.raw);
    REQUIRE(said.well_formed());
    CHECK(said.events[0].data["route"] == item.route);
    CHECK(said.last().name == "done");
    if (*item.text != '\0') CHECK(said.text() == item.text);
    if (*item.confidence != '\0') CHECK(said.last().data["confidence"] == item.confidence);
    CHECK(said.text() != "");
  }
  for (const Route route :
       {Route::meta, Route::offtopic, Route::fresh, Route::followup, Route::nothing})
    CHECK(house.metrics.answers(route).value() == 1);
}

TEST_CASE("an empty index is ready and then an error") {
  ChatHouse house({.sample = false});
  const Talk said = house.ask(kQuestion);
  CHECK(said.status == 200);
  REQUIRE(said.events.size() == 2);
  CHECK(said.events[0].name == "ready");
  CHECK(said.events[0].data["route"] == "void");
  CHECK(said.events[1].name == "error");
  CHECK(said.events[1].data["message"] == "index is empty");
  CHECK(said.events[1].data["retryable"] == false);
  CHECK(house.ask("hi").last().name == "done");
}

TEST_CASE("tokens leave when they come") {
  Puppet model;
  ChatHouse house({.generator = model.url()});
  ChatClient client = house.asking(kQuestion);
  Puppet::Asked asked = model.next();
  asked.head();
  client.read_head();
  CHECK(client.event()->name == "ready");
  for (const char* word : {"limits", " come", " first"}) {
    asked.say(word);
    // The next one is not said before this one was heard.
    CHECK(client.event()->data["text"] == word);
  }
  asked.finish();
  CHECK(client.event()->name == "done");
  CHECK_FALSE(client.event());
}

TEST_CASE("a stream that is silent is kept awake, from ready to the last event") {
  Puppet model;
  ChatHouse house({.generator = model.url(), .server = {.ping = std::chrono::milliseconds(1)}});
  ChatClient client = house.asking(kQuestion);
  Puppet::Asked asked = model.next();
  asked.head();
  client.read_head();
  CHECK(client.event()->name == "ready");
  client.wait_for_ping();
  asked.say("limits");
  CHECK(client.event()->data["text"] == "limits");
  client.wait_for_ping();
  asked.finish();
  CHECK(client.event()->name == "done");
  CHECK_FALSE(client.event());
  CHECK(client.pings >= 2);
}

TEST_CASE("a session goes on: nothing is cited twice, and ids may be in upper case") {
  ChatHouse house;
  std::set<std::string> cited;
  std::string session;
  std::string visitor;
  const char* const questions[] = {kQuestion, "is verification the only truth",
                                   "how do you handle failures?"};
  for (int turn = 1; turn <= 6; ++turn) {
    Json body = {{"query", questions[turn % 3]}};
    if (turn > 1) body.update({{"session_id", upper(session)}, {"visitor_id", upper(visitor)}});
    const Talk said = house.ask(body);
    REQUIRE(said.well_formed());
    if (turn == 1) session = session_of(said);
    if (turn == 1) visitor = said.events[0].data["visitor_id"].get<std::string>();
    CHECK(session_of(said) == session);
    CHECK(said.events[0].data["visitor_id"] == visitor);
    CHECK(said.last().data["turns"] == turn);
    for (const std::string& slug : said.cited()) CHECK(cited.insert(slug).second);
  }
  CHECK(cited.size() > 1);
}

TEST_CASE("a client that names a new session with every question has one turn in each") {
  ChatHouse house;
  RandomIds ids;
  for (int i = 0; i < 5; ++i) {
    const std::string id = ids.uuid();
    const Talk said =
        house.ask({{"query", kQuestion}, {"session_id", id}, {"visitor_id", kVisitor}});
    CHECK(session_of(said) == id);
    CHECK(said.events[0].data["visitor_id"] == kVisitor);
    CHECK(said.last().data["turns"] == 1);
    CHECK(said.cited().size() == 1);
  }
}

TEST_CASE("turns of one session at the same time are all counted") {
  ChatHouse house;
  std::vector<ChatClient> clients;
  for (int i = 0; i < 10; ++i)
    clients.push_back(house.asking({{"query", kQuestion}, {"session_id", kSession}}));
  std::set<int> turns;
  for (ChatClient& client : clients) {
    const Talk said = hear(client);
    REQUIRE(said.well_formed());
    turns.insert(said.last().data["turns"].get<int>());
  }
  CHECK(turns == std::set<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(house.parts.store->session(kSession).value()->turns == 10);
}

TEST_CASE("what was recorded is said again without the model") {
  testing::TempFolder folder;
  const Json body = {{"query", kQuestion}, {"session_id", kSession}, {"visitor_id", kVisitor}};
  std::string said;
  {
    FakeUpstream model;
    ChatHouse house({.generator = model.url(), .record = folder / "talk.jsonl"});
    said = house.ask(body).raw;
  }
  ChatHouse house({.generator = "http://127.0.0.1:9", .replay = folder / "talk.jsonl"});
  CHECK(house.ask(body).raw == said);
  CHECK(said.find("event: done") != std::string::npos);
  CHECK(house.ask("what is heckle").status == 500);
}

}  // namespace chat_stream_test
