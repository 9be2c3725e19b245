// Many concurrent chats, and a server that stops.
#include <doctest/doctest.h>

#include "serve/chat_server_fixture.h"
#include "serve/chat_stream.h"
#include "serve/scripted_model.h"

namespace chat_stream_load_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

void answer(ScriptedModel::Request& asked) {
  asked.send_head();
  asked.send_text("limits first.");
  asked.finish();
}

SemaphoreOptions gate(size_t places, size_t most_waiting) {
  SemaphoreOptions out;
  out.permits = places;
  out.max_waiting = most_waiting;
  return out;
}

}  // namespace

TEST_CASE("requests get the model in the order in which they came") {
  ScriptedModel model;
  ChatServerFixture fixture({.generator = model.url(), .gate = gate(2, 64)});
  std::vector<HttpConnection> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(fixture.start(std::string(kQuestion) + " number" + std::to_string(i)));
    CHECK(eventually([&] {
      return fixture.metric("stoka_gate_taken") + fixture.metric("stoka_gate_waiting") == i + 1;
    }));
  }
  std::vector<ScriptedModel::Request> asked;
  for (int i = 0; i < 2; ++i) asked.push_back(model.next());
  // The first two may reach the model in either order.
  for (size_t i = 0; i < 10; ++i) {
    CHECK(fixture.metric("stoka_gate_taken") <= 2);
    if (i >= 2) CHECK(asked[i].body.find(" number" + std::to_string(i)) != std::string::npos);
    answer(asked[i]);
    if (i + 2 < 10) asked.push_back(model.next());
  }
  for (HttpConnection& client : clients) CHECK(read_reply(client).last().name == "done");
  CHECK(eventually([&] { return fixture.quiet(); }));
}

TEST_CASE("a full queue or a long wait in it gives status 503 with the code busy") {
  ScriptedModel model;
  SemaphoreOptions small = gate(1, 1);
  small.max_wait = std::chrono::milliseconds(700);
  ChatServerFixture fixture({.generator = model.url(), .gate = small});
  HttpConnection first = fixture.start(kQuestion);
  ScriptedModel::Request asked = model.next();
  HttpConnection second = fixture.start(kQuestion);
  CHECK(eventually([&] { return fixture.metric("stoka_gate_waiting") == 1; }));
  HttpConnection third = fixture.start(kQuestion);
  for (HttpConnection* client : {&third, &second}) {
    const ChatReply reply = read_reply(*client);
    CHECK(reply.status == 503);
    CHECK(reply.problem["code"] == "busy");
    CHECK(reply.header("retry-after") == "2");
    CHECK(reply.events.empty());
  }
  answer(asked);
  CHECK(read_reply(first).last().name == "done");
}

TEST_CASE("many concurrent chats are all answered") {
  FakeUpstream model;
  ChatServerFixture fixture({.generator = model.url(), .gate = gate(4, 64)});
  std::vector<HttpConnection> clients;
  for (int i = 0; i < 40; ++i) clients.push_back(fixture.start(kQuestion));
  for (HttpConnection& client : clients) {
    const ChatReply reply = read_reply(client);
    CHECK(reply.well_formed());
    CHECK(reply.last().name == "done");
  }
  CHECK(eventually([&] { return fixture.quiet(); }));
  CHECK(fixture.metrics.streams(serve::Metrics::StreamEnd::done).value() == 40);
}

TEST_CASE("stop lets streams end") {
  ScriptedModel model;
  ChatServerFixture fixture({.generator = model.url()});
  HttpConnection client = fixture.start(kQuestion);
  ScriptedModel::Request asked = model.next();
  asked.send_head();
  client.read_head();
  CHECK(client.event()->name == "ready");
  fixture.server().stop();
  asked.send_text("limits first. work");
  CHECK(client.event()->name == "token");
  CHECK_FALSE(fixture.ended());
  asked.finish();
  CHECK(client.event()->name == "token");
  CHECK(client.event()->name == "cite");
  CHECK(client.event()->name == "done");
  CHECK_FALSE(client.event());
  CHECK(client.is_closed());
  client.disconnect();
  CHECK(eventually([&] { return fixture.ended(); }));
  CHECK_FALSE(HttpConnection(fixture.port()).connected());
}

TEST_CASE("after the grace time streams end with an error event, other requests with status 503") {
  ScriptedModel model;
  serve::ServerOptions server;
  server.shutdown_grace = std::chrono::milliseconds(300);
  ChatServerFixture fixture({.generator = model.url(), .server = server});
  HttpConnection streaming = fixture.start(kQuestion);
  ScriptedModel::Request first = model.next();
  first.send_head();
  first.send_text("limits first. work");
  streaming.read_head();
  CHECK(streaming.event()->name == "ready");
  CHECK(streaming.event()->name == "token");
  HttpConnection waiting = fixture.start(kQuestion);
  ScriptedModel::Request second = model.next();
  fixture.server().stop();
  CHECK(streaming.event()->name == "token");
  const auto last = streaming.event();
  REQUIRE(last);
  CHECK(last->name == "error");
  CHECK(last->json()["message"] == "the server is shutting down");
  CHECK(last->json()["retryable"] == true);
  CHECK_FALSE(streaming.event());
  CHECK(streaming.is_closed());
  const ChatReply told = read_reply(waiting);
  CHECK(told.status == 503);
  CHECK(told.header("retry-after") == "5");
  CHECK(waiting.is_closed());
  CHECK(first.client_disconnected());
  CHECK(second.client_disconnected());
  streaming.disconnect();
  waiting.disconnect();
  CHECK(eventually([&] { return fixture.ended(); }));
  CHECK(fixture.quiet());
  CHECK(fixture.metrics.connections.value() == 0);
}

TEST_CASE("a second stop closes all streams at once") {
  ScriptedModel model;
  ChatServerFixture fixture({.generator = model.url()});
  HttpConnection client = fixture.start(kQuestion);
  ScriptedModel::Request asked = model.next();
  asked.send_head();
  client.read_head();
  CHECK(client.event()->name == "ready");
  fixture.server().stop();
  fixture.server().stop();
  CHECK_THROWS(client.event());
  CHECK(asked.client_disconnected());
  CHECK(eventually([&] { return fixture.ended(); }));
  CHECK(fixture.metrics.open_streams.value() == 0);
}

}  // namespace chat_stream_load_test
