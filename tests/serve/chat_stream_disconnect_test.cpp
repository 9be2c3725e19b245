// Chat over HTTP when the client disconnects, or the store fails.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include "serve/chat_server_fixture.h"
#include "serve/chat_stream.h"
#include "serve/scripted_model.h"

namespace chat_stream_disconnect_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kSession = "11111111-1111-4111-8111-11111111111a";

// A second connection to the database of a fixture.
class OtherConnection {
 public:
  explicit OtherConnection(const ChatServerFixture& fixture) {
    const std::string path = fixture.parts.url.substr(std::string("sqlite:").size());
    REQUIRE(sqlite3_open(path.c_str(), &handle_) == SQLITE_OK);
  }
  ~OtherConnection() { sqlite3_close(handle_); }
  void run(const char* sql) {
    REQUIRE(sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  }

 private:
  sqlite3* handle_ = nullptr;
};

const Json kAsked = {{"query", kQuestion}, {"session_id", kSession}};

std::optional<Session> kept(const ChatServerFixture& fixture) {
  return fixture.parts.store->session(kSession).value();
}

}  // namespace

TEST_CASE("a disconnect while queued frees the place in the queue") {
  ScriptedModel model;
  SemaphoreOptions one;
  one.permits = 1;
  ChatServerFixture fixture({.generator = model.url(), .gate = one});
  HttpConnection first = fixture.start(kQuestion);
  ScriptedModel::Request answering = model.next();
  HttpConnection second = fixture.start(kAsked);
  CHECK(eventually([&] { return fixture.metric("stoka_gate_waiting") == 1; }));
  HttpConnection third = fixture.start("tell me about latency as manners");
  CHECK(eventually([&] { return fixture.metric("stoka_gate_waiting") == 2; }));
  second.disconnect();
  CHECK(eventually([&] { return fixture.metric("stoka_gate_waiting") == 1; }));
  answering.send_head();
  answering.send_text("limits.");
  answering.finish();
  CHECK(read_reply(first).last().name == "done");
  ScriptedModel::Request next = model.next();
  CHECK(next.body.find("latency as manners") != std::string::npos);
  next.send_head();
  next.send_text("soon.");
  next.finish();
  CHECK(read_reply(third).last().name == "done");
  CHECK(eventually([&] { return fixture.quiet(); }));
  CHECK_FALSE(kept(fixture));
  CHECK(fixture.metrics.requests("/api/stoka/chat", 499).value() == 1);
}

TEST_CASE("if the client disconnects before the first event, no turn is stored") {
  ScriptedModel model;
  ChatServerFixture fixture({.generator = model.url()});
  HttpConnection client = fixture.start(kAsked);
  ScriptedModel::Request asked = model.next();
  client.disconnect();
  CHECK(asked.client_disconnected());
  CHECK(eventually([&] { return fixture.quiet(); }));
  CHECK_FALSE(kept(fixture));
  CHECK(fixture.metrics.requests("/api/stoka/chat", 499).value() == 1);
}

TEST_CASE("if the client disconnects during the stream, the streamed text is saved once") {
  for (const bool heard : {false, true}) {
    CAPTURE(heard);
    ScriptedModel model;
    ChatServerFixture fixture({.generator = model.url()});
    HttpConnection client = fixture.start(kAsked);
    ScriptedModel::Request asked = model.next();
    asked.send_head();
    client.read_head();
    CHECK(client.event()->name == "ready");
    if (heard) asked.send_text("limits first. work");
    if (heard) CHECK(client.event()->name == "token");
    CHECK(fixture.metrics.open_streams.value() == 1);
    CHECK(fixture.metric("stoka_gate_taken") == 1);
    client.disconnect();
    CHECK(asked.client_disconnected());
    CHECK(eventually([&] { return fixture.quiet(); }));
    REQUIRE(eventually([&] { return kept(fixture).has_value(); }));
    CHECK(kept(fixture)->turns == 1);
    CHECK(kept(fixture)->exchanges.size() == (heard ? 1 : 0));
    if (heard) CHECK(kept(fixture)->exchanges[0].assistant == "limits first. work [cut off]");
    CHECK(fixture.metrics.streams(serve::Metrics::StreamEnd::client_left).value() == 1);
    CHECK(fixture.ask("hi").last().name == "done");
  }
}

TEST_CASE("a disconnect during the commit does not change the stored turn") {
  ScriptedModel model;
  ChatServerFixture fixture({.generator = model.url()});
  HttpConnection client = fixture.start(kAsked);
  ScriptedModel::Request asked = model.next();
  OtherConnection other(fixture);
  other.run("BEGIN IMMEDIATE");
  asked.send_head();
  asked.send_text("limits first.");
  asked.finish();
  client.read_head();
  CHECK(client.event()->name == "ready");
  CHECK(client.event()->name == "token");
  // The place at the model server is free before the turn is saved.
  CHECK(eventually([&] { return fixture.metric("stoka_gate_taken") == 0; }));
  client.disconnect();
  CHECK(eventually([&] { return fixture.quiet(); }));
  CHECK_FALSE(kept(fixture));
  other.run("ROLLBACK");
  REQUIRE(eventually([&] { return kept(fixture).has_value(); }));
  CHECK(kept(fixture)->turns == 1);
  CHECK(kept(fixture)->exchanges[0].assistant == "limits first.");
  CHECK(fixture.metrics.streams(serve::Metrics::StreamEnd::client_left).value() == 1);
  CHECK(fixture.metrics.streams(serve::Metrics::StreamEnd::done).value() == 0);
}

TEST_CASE("a turn that cannot be saved is still answered") {
  ChatServerFixture fixture;
  fixture.server();
  OtherConnection other(fixture);
  other.run(
      "CREATE TRIGGER refuse BEFORE INSERT ON stoka_sessions "
      "BEGIN SELECT RAISE(ABORT, 'refused'); END");
  for (const char* query : {kQuestion, "hi"}) {
    const ChatReply reply = fixture.ask(query);
    REQUIRE(reply.well_formed());
    CHECK(reply.last().name == "done");
    CHECK(reply.last().json()["turns"] == 1);
    CHECK(reply.text() != "");
  }
  CHECK(fixture.metrics.turns_not_saved.value() == 2);
  CHECK(fixture.log_text().find("this turn was not saved") != std::string::npos);
}

}  // namespace chat_stream_disconnect_test
