// Many chats at once, the end of a server, and silence.
#include <doctest/doctest.h>

#include "chat_house.h"
#include "puppet.h"
#include "serve/chat_stream.h"

namespace chat_stream_load_test {

using namespace stoka;
using namespace stoka::test;
using testing::FakeUpstream;

namespace {

void answer(Puppet::Asked& asked) {
  asked.head();
  asked.say("limits first.");
  asked.finish();
}

GateOptions gate(size_t places, size_t most_waiting) {
  GateOptions out;
  out.places = places;
  out.most_waiting = most_waiting;
  return out;
}

}  // namespace

TEST_CASE("who came first is answered first, and all are answered") {
  Puppet model;
  ChatHouse house({.generator = model.url(), .gate = gate(2, 64)});
  std::vector<ChatClient> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(house.asking(std::string(kQuestion) + " number" + std::to_string(i)));
    CHECK(eventually([&] {
      return house.metric("stoka_gate_taken") + house.metric("stoka_gate_waiting") == i + 1;
    }));
  }
  std::vector<Puppet::Asked> asked;
  for (int i = 0; i < 2; ++i) asked.push_back(model.next());
  // The first two may reach the model in either order.
  for (size_t i = 0; i < 10; ++i) {
    CHECK(house.metric("stoka_gate_taken") <= 2);
    if (i >= 2) CHECK(asked[i].body.find(" number" + std::to_string(i)) != std::string::npos);
    answer(asked[i]);
    if (i + 2 < 10) asked.push_back(model.next());
  }
  for (ChatClient& client : clients) CHECK(hear(client).last().name == "done");
  CHECK(eventually([&] { return house.quiet(); }));
}

TEST_CASE("whoever finds the queue full, or waits too long in it, is told to come again") {
  Puppet model;
  GateOptions small = gate(1, 1);
  small.most_wait = std::chrono::milliseconds(700);
  ChatHouse house({.generator = model.url(), .gate = small});
  ChatClient first = house.asking(kQuestion);
  Puppet::Asked asked = model.next();
  ChatClient second = house.asking(kQuestion);
  CHECK(eventually([&] { return house.metric("stoka_gate_waiting") == 1; }));
  ChatClient third = house.asking(kQuestion);
  for (ChatClient* client : {&third, &second}) {
    const Talk said = hear(*client);
    CHECK(said.status == 503);
    CHECK(said.problem["code"] == "busy");
    CHECK(said.headers.at("retry-after") == "2");
    CHECK(said.events.empty());
  }
  answer(asked);
  CHECK(hear(first).last().name == "done");
}

TEST_CASE("many talk at once") {
  FakeUpstream model;
  ChatHouse house({.generator = model.url(), .gate = gate(4, 64)});
  std::vector<ChatClient> clients;
  for (int i = 0; i < 40; ++i) clients.push_back(house.asking(kQuestion));
  for (ChatClient& client : clients) {
    const Talk said = hear(client);
    CHECK(said.well_formed());
    CHECK(said.last().name == "done");
  }
  CHECK(eventually([&] { return house.quiet(); }));
  CHECK(house.metrics.streams(serve::Metrics::End::done).value() == 40);
}

TEST_CASE("a server that stops lets answers come to their end") {
  Puppet model;
  ChatHouse house({.generator = model.url()});
  ChatClient client = house.asking(kQuestion);
  Puppet::Asked asked = model.next();
  asked.head();
  client.read_head();
  CHECK(client.event()->name == "ready");
  house.server().stop();
  asked.say("limits first.");
  CHECK(client.event()->name == "token");
  CHECK_FALSE(house.ended());
  asked.finish();
  CHECK(client.event()->name == "done");
  CHECK_FALSE(client.event());
  CHECK(client.closed());
  client.leave();
  CHECK(eventually([&] { return house.ended(); }));
  CHECK_THROWS(ChatClient(house.port()));
}

TEST_CASE("when the time of grace is over everybody is told, and the connection closes") {
  Puppet model;
  serve::ServerOptions server;
  server.grace = std::chrono::milliseconds(300);
  ChatHouse house({.generator = model.url(), .server = server});
  ChatClient streaming = house.asking(kQuestion);
  Puppet::Asked first = model.next();
  first.head();
  first.say("limits first");
  streaming.read_head();
  CHECK(streaming.event()->name == "ready");
  CHECK(streaming.event()->name == "token");
  ChatClient waiting = house.asking(kQuestion);
  Puppet::Asked second = model.next();
  house.server().stop();
  const auto last = streaming.event();
  REQUIRE(last);
  CHECK(last->name == "error");
  CHECK(last->data["message"] == "the server is shutting down");
  CHECK(last->data["retryable"] == true);
  CHECK_FALSE(streaming.event());
  CHECK(streaming.closed());
  const Talk told = hear(waiting);
  CHECK(told.status == 503);
  CHECK(told.headers.at("retry-after") == "5");
  CHECK(waiting.closed());
  CHECK(first.left());
  CHECK(second.left());
  streaming.leave();
  waiting.leave();
  CHECK(eventually([&] { return house.ended(); }));
  CHECK(house.quiet());
  CHECK(house.metrics.connections.value() == 0);
}

TEST_CASE("stopped twice, a server is over at once") {
  Puppet model;
  ChatHouse house({.generator = model.url()});
  ChatClient client = house.asking(kQuestion);
  Puppet::Asked asked = model.next();
  asked.head();
  client.read_head();
  CHECK(client.event()->name == "ready");
  house.server().stop();
  house.server().stop();
  CHECK_THROWS(client.event());
  CHECK(asked.left());
  CHECK(eventually([&] { return house.ended(); }));
  CHECK(house.metrics.open_streams.value() == 0);
}

}  // namespace chat_stream_load_test
