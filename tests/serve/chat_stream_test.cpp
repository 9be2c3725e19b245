// Chat over HTTP without faults: the wire format, routes, sessions.
#include "serve/chat_stream.h"

#include <doctest/doctest.h>

#include <set>

#include "serve/chat_server_fixture.h"
#include "serve/scripted_model.h"

namespace chat_stream_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kSession = "11111111-1111-4111-8111-11111111111a";
constexpr const char* kVisitor = "22222222-2222-4222-8222-22222222222b";

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string session_of(const ChatReply& reply) {
  return reply.events.at(0).json()["session_id"].get<std::string>();
}

}  // namespace

TEST_CASE("events have the exact wire format") {
  FakeUpstream model;
  ChatServerFixture fixture({.generator = model.url()});
  model.queue_behaviour(
      R"({"answer":"Limits \"first\".\n<cite slug=\"philosophy-bounded-execution\" quote=\"A bound is a limit\"/>"})");
  const ChatReply reply =
      fixture.ask({{"query", kQuestion}, {"session_id", kSession}, {"visitor_id", kVisitor}});
  CHECK(reply.status == 200);
  CHECK(reply.header("content-type") == "text/event-stream");
  CHECK(reply.header("cache-control") == "no-cache");
  CHECK(reply.header("x-accel-buffering") == "no");
  CHECK(reply.header("transfer-encoding") == "chunked");
  CHECK_FALSE(reply.header("x-request-id").empty());
  CHECK(reply.header("content-length").empty());
  std::string expected =
      "event: ready\ndata: {\"session_id\":\"11111111-1111-4111-8111-11111111111a\","
      "\"visitor_id\":\"22222222-2222-4222-8222-22222222222b\",\"route\":\"new\"}\n\n";
  expected +=
      "event: token\ndata: {\"text\":\"Limits \\\"first\\\".\\n\"}\n\n"
      "event: cite\ndata: {\"slug\":\"philosophy-bounded-execution\","
      "\"title\":\"The Philosophy of Bounded Execution\","
      "\"quote\":\"A bound is a limit\","
      "\"type\":\"philosophy\",\"reading_time\":\"8 min\",\"date\":\"Apr 12\",\"score\":0.995,"
      "\"kind\":\"block\",\"url\":\"/blog/philosophy-bounded-execution"
      "#:~:text=A%20bound%20is%20a%20limit\",\"published\":\"2026-04-12\"}\n\n"
      "event: done\ndata: {\"turns\":1,\"confidence\":\"direct\",\"latency_ms\":0}\n\n";
  CHECK(reply.body == expected);
}

TEST_CASE("the built-in parts answer, and the connection is kept alive") {
  ChatServerFixture fixture;
  HttpConnection client(fixture.port());
  for (int turn = 1; turn <= 2; ++turn) {
    send_chat(client, {{"query", kQuestion}});
    const ChatReply reply = read_reply(client);
    REQUIRE(reply.well_formed());
    CHECK(reply.last().name == "done");
    CHECK(reply.last().json()["turns"] == 1);
    CHECK(reply.cited() == std::vector<std::string>{"philosophy-bounded-execution"});
    CHECK(reply.text() != "");
  }
  send_chat(client, {{"query", kQuestion}}, "1.0");
  const ChatReply old = read_reply(client);
  CHECK(old.header("transfer-encoding").empty());
  CHECK(old.last().name == "done");
  CHECK(client.is_closed());
}

TEST_CASE("the events ready and done have the route and the confidence") {
  ChatServerFixture fixture;
  struct Case {
    const char* query;
    const char* route;
    const char* confidence;
    const char* text;  // the whole answer; empty: any
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
    const ChatReply reply = fixture.ask({{"query", item.query}, {"session_id", kSession}});
    CAPTURE(reply.body);
    REQUIRE(reply.well_formed());
    CHECK(reply.events[0].json()["route"] == item.route);
    CHECK(reply.last().name == "done");
    if (*item.text != '\0') CHECK(reply.text() == item.text);
    if (*item.confidence != '\0') CHECK(reply.last().json()["confidence"] == item.confidence);
    CHECK(reply.text() != "");
  }
  for (const Route route :
       {Route::meta, Route::offtopic, Route::fresh, Route::followup, Route::nothing})
    CHECK(fixture.metrics.answers(route).value() == 1);
}

TEST_CASE("with an empty index, the stream is a ready event and then an error event") {
  ChatServerFixture fixture({.sample = false});
  const ChatReply reply = fixture.ask(kQuestion);
  CHECK(reply.status == 200);
  REQUIRE(reply.events.size() == 2);
  CHECK(reply.events[0].name == "ready");
  CHECK(reply.events[0].json()["route"] == "void");
  CHECK(reply.events[1].name == "error");
  CHECK(reply.events[1].json()["message"] == "index is empty");
  CHECK(reply.events[1].json()["retryable"] == false);
  CHECK(fixture.ask("hi").last().name == "done");
}

TEST_CASE("each sentence is sent when the next one begins") {
  ScriptedModel model;
  ChatServerFixture fixture({.generator = model.url()});
  HttpConnection client = fixture.start(kQuestion);
  ScriptedModel::Request asked = model.next();
  asked.send_head();
  client.read_head();
  CHECK(client.event()->name == "ready");
  asked.send_text("limits come first.");
  // The model goes on only after the sentence before has arrived.
  asked.send_text(" then the");
  CHECK(client.event()->json()["text"] == "limits come first.");
  asked.send_text(" work. why");
  CHECK(client.event()->json()["text"] == " then the work.");
  asked.send_text(" not?");
  asked.finish();
  CHECK(client.event()->json()["text"] == " why not?");
  CHECK(client.event()->name == "cite");
  CHECK(client.event()->name == "done");
  CHECK_FALSE(client.event());
}

TEST_CASE("what was changed in an answer is counted and logged by kind") {
  FakeUpstream model;
  ChatServerFixture fixture({.generator = model.url()});
  model.queue_behaviour(R"({"answer":"it cost 48211 euros. Aurora Vance paid."})");
  const ChatReply reply = fixture.ask(kQuestion);
  CHECK(reply.text() == "nothing here on that. yet.");
  CHECK(reply.cited().empty());
  CHECK(reply.last().json()["confidence"] == "nothing");
  CHECK(fixture.metric("stoka_interventions_total{kind=\"unsupported\"}") == 2);
  CHECK(fixture.metric("stoka_interventions_total{kind=\"voided\"}") == 1);
  CHECK(fixture.metric("stoka_interventions_total{kind=\"cited\"}") == 0);
  CHECK(eventually([&] {
    return fixture.log_text().find("\"interventions\":{\"unsupported\":2,\"voided\":1}") !=
           std::string::npos;
  }));
}

TEST_CASE("an idle stream has pings") {
  ScriptedModel model;
  ChatServerFixture fixture(
      {.generator = model.url(), .server = {.ping_interval = std::chrono::milliseconds(1)}});
  HttpConnection client = fixture.start(kQuestion);
  ScriptedModel::Request asked = model.next();
  asked.send_head();
  client.read_head();
  CHECK(client.event()->name == "ready");
  client.wait_for_ping();
  asked.send_text("limits first. work");
  CHECK(client.event()->json()["text"] == "limits first.");
  client.wait_for_ping();
  asked.finish();
  CHECK(client.event()->json()["text"] == " work");
  CHECK(client.event()->name == "cite");
  CHECK(client.event()->name == "done");
  CHECK_FALSE(client.event());
  CHECK(client.pings() >= 2);
}

TEST_CASE("a session cites nothing twice, and ids may be upper case") {
  ChatServerFixture fixture;
  std::set<std::string> cited;
  std::string session;
  std::string visitor;
  const char* const questions[] = {kQuestion, "is verification the only truth",
                                   "how do you handle failures?"};
  for (int turn = 1; turn <= 6; ++turn) {
    Json body = {{"query", questions[turn % 3]}};
    if (turn > 1) body.update({{"session_id", upper(session)}, {"visitor_id", upper(visitor)}});
    const ChatReply reply = fixture.ask(body);
    REQUIRE(reply.well_formed());
    if (turn == 1) session = session_of(reply);
    if (turn == 1) visitor = reply.events[0].json()["visitor_id"].get<std::string>();
    CHECK(session_of(reply) == session);
    CHECK(reply.events[0].json()["visitor_id"] == visitor);
    CHECK(reply.last().json()["turns"] == turn);
    for (const std::string& slug : reply.cited()) CHECK(cited.insert(slug).second);
  }
  CHECK(cited.size() > 1);
}

TEST_CASE("a new session id with every question makes sessions of one turn") {
  ChatServerFixture fixture;
  RandomUuidSource ids;
  for (int i = 0; i < 5; ++i) {
    const std::string id = ids.uuid();
    const ChatReply reply =
        fixture.ask({{"query", kQuestion}, {"session_id", id}, {"visitor_id", kVisitor}});
    CHECK(session_of(reply) == id);
    CHECK(reply.events[0].json()["visitor_id"] == kVisitor);
    CHECK(reply.last().json()["turns"] == 1);
    CHECK(reply.cited().size() == 1);
  }
}

TEST_CASE("concurrent turns of one session are all counted") {
  ChatServerFixture fixture;
  std::vector<HttpConnection> clients;
  for (int i = 0; i < 10; ++i)
    clients.push_back(fixture.start({{"query", kQuestion}, {"session_id", kSession}}));
  std::set<int> turns;
  for (HttpConnection& client : clients) {
    const ChatReply reply = read_reply(client);
    REQUIRE(reply.well_formed());
    turns.insert(reply.last().json()["turns"].get<int>());
  }
  CHECK(turns == std::set<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  CHECK(fixture.parts.store->session(kSession).value()->turns == 10);
}

TEST_CASE("a recorded answer is replayed without a model server") {
  testing::TempFolder folder;
  const Json body = {{"query", kQuestion}, {"session_id", kSession}, {"visitor_id", kVisitor}};
  std::string said;
  {
    FakeUpstream model;
    ChatServerFixture fixture({.generator = model.url(), .record = folder / "talk.jsonl"});
    said = fixture.ask(body).body;
  }
  ChatServerFixture fixture({.generator = "http://127.0.0.1:9", .replay = folder / "talk.jsonl"});
  CHECK(fixture.ask(body).body == said);
  CHECK(said.find("event: done") != std::string::npos);
  CHECK(fixture.ask("what is heckle").status == 500);
}

}  // namespace chat_stream_test
