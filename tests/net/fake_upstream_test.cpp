#include "support/upstream/fake_upstream.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/sockets.h"

namespace fake_upstream_test {

namespace {

using stoka::testing::connect_to;
using stoka::testing::FakeOptions;
using stoka::testing::FakeUpstream;
using stoka::testing::kFaults;
using stoka::testing::send_all;

// Sends some bytes and reads the response until these bytes, or to the end.
class Connection {
 public:
  Connection(uint16_t port, const std::string& bytes) : socket_(connect_to(port)) {
    REQUIRE(send_all(socket_.get(), bytes));
  }
  std::string receive(std::string_view end = "\x01 never") {
    std::string out;
    while (!out.ends_with(end) &&
           stoka::testing::receive(socket_.get(), out) == stoka::testing::Received::bytes)
      continue;
    return out;
  }

 private:
  stoka::testing::Descriptor socket_;
};

std::string post(const std::string& path, const std::string& body) {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
         "Authorization: Bearer k\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

const std::string kChat =
    post("/v1/chat/completions",
         R"({"stream":true,"messages":[{"role":"system","content":)"
         R"("<chunk slug=\"a\">\nT\n\nThe words of a are these. More.\n</chunk>"}]})");

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a programmed fault of the fake server that has no effect gives an error") {
  FakeUpstream server;
  for (const std::string text :
       {"", "[]", R"({"faul":"cut"})", R"({"fault":"nope"})", R"({"dialect":"latin"})",
        R"({"status":"500"})", R"({"times":-1})", R"({"delay_ms":0.5})", R"({"answer":[1]})",
        R"({"fault":"refuse_fields"})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(server.queue_behaviour(text), std::invalid_argument);
  }
  for (const auto& fault : kFaults)
    CHECK_NOTHROW(
        server.queue_behaviour("{\"fault\":\"" + std::string(fault.name) + "\",\"field\":\"x\"}"));
  FakeOptions options;
  options.dialect = "latin";
  CHECK_THROWS_AS(FakeUpstream{options}, std::invalid_argument);
}

TEST_CASE("requests are answered and logged on a kept connection") {
  FakeUpstream server;
  Connection caller(server.port(), post("/embed", R"({"inputs":["cats and dogs"]})") +
                                       post("/embed", R"({"inputs":[]})"));
  const std::string received = caller.receive("\"Empty\"}");
  CHECK(received.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(has(received, "\r\n\r\n[["));
  CHECK(has(received, "HTTP/1.1 400"));
  REQUIRE(server.wait_for_requests(2));
  const auto seen = server.requests();
  CHECK(seen[0].path == "/embed");
  CHECK(seen[0].authorization == "Bearer k");
  CHECK(seen[0].body == R"({"inputs":["cats and dogs"]})");
  CHECK(seen[0].complete);
  CHECK(server.connections() == 1);
  server.reset();
  CHECK(server.requests().empty());
}

TEST_CASE("a chat answer cites the first chunk of its prompt, and cut_in_tag ends within the tag") {
  FakeUpstream server;
  Connection whole(server.port(), kChat);
  const std::string received = whole.receive("0\r\n\r\n");
  CHECK(has(received, "\"finish_reason\":\"stop\""));
  CHECK(has(received, "data: [DONE]\n\n"));
  server.queue_behaviour(R"({"fault":"cut_in_tag"})");
  Connection cut(server.port(), kChat);
  const std::string part = cut.receive();
  CHECK(part.ends_with("\n\n\r\n"));
  CHECK_FALSE(has(part, "\"finish_reason\":\"stop\""));
  CHECK_FALSE(has(part, "[DONE]"));
  REQUIRE(server.wait_for_requests(2));
  CHECK_FALSE(server.requests()[1].complete);
  CHECK_FALSE(server.requests()[1].disconnected_after.has_value());
}

TEST_CASE("a programmed fault waits for a request that matches it") {
  FakeUpstream server;
  server.queue_behaviour(R"({"path":"/info","status":503})");
  server.queue_behaviour(R"({"fault":"nan"})");
  server.queue_behaviour(R"({"status":429,"times":2})");
  const std::string embed = post("/embed", R"({"inputs":["a"]})");
  CHECK(has(Connection(server.port(), kChat).receive("}"), " 429 "));
  CHECK(has(Connection(server.port(), embed).receive("]]"), "NaN"));
  CHECK(has(Connection(server.port(), embed).receive("}"), "\"Overloaded\""));
  CHECK(has(Connection(server.port(), embed).receive("]]"), " 200 "));
  CHECK(has(Connection(server.port(), "GET /info HTTP/1.1\r\n\r\n").receive("}"), " 503 "));
}

TEST_CASE("a client that disconnects is noticed, and a destroyed server closes its connections") {
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"hang"})");
  { Connection impatient(server.port(), kChat); }
  REQUIRE(server.wait_for_requests(1));
  CHECK(server.requests()[0].disconnected_after.has_value());
  auto leaving = std::make_unique<FakeUpstream>();
  leaving->queue_behaviour(R"({"fault":"hang_mid"})");
  Connection patient(leaving->port(), kChat);
  leaving.reset();
  CHECK_FALSE(has(patient.receive(), "[DONE]"));
}

}  // namespace fake_upstream_test
