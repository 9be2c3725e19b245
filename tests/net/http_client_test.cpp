#include "net/http_client.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "net/capturing_sink.h"
#include "support/canned_server.h"
#include "support/upstream/fake_upstream.h"

namespace http_client_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::net;
using testing::CapturingSink;
using testing::FakeUpstream;
using testing::get;
using testing::kChat;
using testing::kEmbed;
using testing::post;

namespace {

// An address where no server listens.
std::string unused_url() {
  const FakeUpstream server;
  return server.url();
}

// Waits for a condition that another thread makes true.
template <class Condition>
void wait_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace

TEST_CASE("a request is sent with its headers, key and body") {
  FakeUpstream server({.key = "s3cret"});
  HttpClient client;
  CapturingSink sink;
  HttpRequest request = post(server.url() + "/embed?a=b", kEmbed);
  request.key = Secret("s3cret");
  request.accept = "text/event-stream";
  const auto failure = client.perform(request, sink, {});
  REQUIRE_MESSAGE(!failure, failure->error.message);
  CHECK(sink.heads == 1);
  CHECK(sink.response_head.status == 200);
  CHECK(sink.response_head.content_type == "application/json");
  CHECK(sink.text.starts_with("[["));

  REQUIRE(server.wait_for_requests(1));
  const auto seen = server.requests().at(0);
  CHECK(seen.method == "POST");
  CHECK(seen.path == "/embed?a=b");
  CHECK(seen.body == kEmbed);
  CHECK(seen.authorization == "Bearer s3cret");
  CHECK(seen.headers.at("content-type") == "application/json");
  CHECK(seen.headers.at("accept") == "text/event-stream");
  CHECK(seen.headers.at("user-agent") == "stoka/" STOKA_VERSION);
  for (const char* header : {"expect", "accept-encoding", "cookie", "te"})
    CHECK_FALSE(seen.headers.contains(header));
}

TEST_CASE("a GET has no body") {
  FakeUpstream server;
  HttpClient client;
  CapturingSink sink;
  const auto failure = client.perform(get(server.url() + "/info"), sink, {});
  REQUIRE_FALSE(failure.has_value());
  CHECK(sink.response_head.status == 200);
  const auto seen = server.requests().at(0);
  CHECK(seen.method == "GET");
  CHECK(seen.body.empty());
  CHECK(seen.authorization.empty());
  CHECK_FALSE(seen.headers.contains("content-type"));
}

TEST_CASE("connections are reused") {
  FakeUpstream server;
  HttpClient client;
  for (int i = 0; i < 5; ++i) {
    CapturingSink sink;
    const bool stream = i % 2 == 1;
    const HttpRequest request = stream ? post(server.url() + "/v1/chat/completions", kChat)
                                       : post(server.url() + "/embed", kEmbed);
    REQUIRE_FALSE(client.perform(request, sink, {}).has_value());
    CHECK(sink.response_head.status == 200);
  }
  CHECK(server.connections() == 1);

  server.queue_behaviour(R"({"fault":"cut"})");
  CapturingSink sink;
  const auto failure = client.perform(post(server.url() + "/embed", kEmbed), sink, {});
  REQUIRE(failure.has_value());
  CHECK(failure->connected);
  CHECK(server.connections() == 1);
}

TEST_CASE("a kept connection that the server has closed is replaced") {
  FakeUpstream server;
  HttpClient client;
  for (int i = 0; i < 3; ++i) {
    server.queue_behaviour(R"({"fault":"close_after"})");
    CapturingSink sink;
    REQUIRE_FALSE(client.perform(post(server.url() + "/embed", kEmbed), sink, {}).has_value());
    CHECK(sink.response_head.status == 200);
  }
  CHECK(server.connections() == 3);
}

TEST_CASE("many threads can use one client at once") {
  FakeUpstream server;
  HttpClient client;
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        for (int j = 0; j < 10; ++j) {
          // The response has as many vectors as the request has inputs.
          std::string inputs = "\"a\"";
          for (int k = 0; k < i; ++k) inputs += ",\"a\"";
          CapturingSink sink;
          const auto request = post(server.url() + "/embed", "{\"inputs\":[" + inputs + "]}");
          if (client.perform(request, sink, {})) continue;
          const auto vectors = std::count(sink.text.begin(), sink.text.end(), '[') - 1;
          if (sink.response_head.status == 200 && vectors == i + 1) ++answered;
        }
      });
  }
  CHECK(answered == 80);
  CHECK(server.connections() <= 8);
}

TEST_CASE("a server that cannot be reached gives a failure before the connection") {
  HttpClient client;
  CapturingSink sink;
  SUBCASE("no server listens on the port") {
    const auto failure = client.perform(post(unused_url() + "/embed", kEmbed), sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.kind == ErrorKind::unavailable);
    CHECK(failure->error.message == "connection refused");
    CHECK_FALSE(failure->connected);
    CHECK_FALSE(failure->answered);
  }
  SUBCASE("the host name cannot be resolved") {
    const std::string host(70, 'a');
    const auto failure = client.perform(get("http://" + host + ".invalid/"), sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.kind == ErrorKind::unavailable);
    CHECK(failure->error.message == "host name not found");
    CHECK(failure->cause == FailureCause::no_host);
    CHECK_FALSE(failure->connected);
  }
  SUBCASE("the server never completes the TLS handshake") {
    const testing::Listener server;  // accepts no connection
    HttpRequest request = get("https" + server.url().substr(4));
    request.timeouts.connect = 200ms;
    const auto failure = client.perform(request, sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.kind == ErrorKind::timeout);
    CHECK(failure->error.message == "no connection after 200 ms");
    CHECK(failure->cause == FailureCause::connect);
    CHECK_FALSE(failure->connected);
  }
  SUBCASE("the server does not speak TLS") {
    const testing::CannedServer server("HTTP/1.1 400 Bad Request\r\n\r\n");
    const auto failure = client.perform(get("https" + server.url().substr(4)), sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.kind == ErrorKind::protocol);
    CHECK(failure->error.message.starts_with("no TLS connection: "));
    CHECK(failure->error.hint == "is it http:// rather than https://?");
    CHECK_FALSE(failure->connected);
  }
  SUBCASE("the address is not an HTTP address") {
    const auto failure = client.perform(get("file:///etc/passwd"), sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.kind == ErrorKind::config);
  }
  CHECK(sink.heads == 0);
  CHECK(sink.text.empty());
}

TEST_CASE("each fault of a server becomes a failure with its kind, message and cause") {
  struct Case {
    std::string behaviour;
    bool stream;
    ErrorKind kind;
    std::string message;
    bool answered;
    Timeouts deadlines = {};
    FailureCause cause = FailureCause::other;
  };
  Timeouts head, idle, total;
  head.headers = idle.idle = 100ms;
  total.total = 300ms;
  const Case cases[] = {
      {R"({"fault":"close"})", false, ErrorKind::unavailable, "the connection broke off", false},
      {R"({"fault":"reset"})", false, ErrorKind::unavailable, "the connection broke off", false},
      {R"({"fault":"cut_head"})", false, ErrorKind::unavailable, "the connection broke off", false},
      {R"({"fault":"hang"})", false, ErrorKind::timeout, "no answer after 100 ms", false, head,
       FailureCause::headers},
      {R"({"fault":"half_head"})", false, ErrorKind::timeout, "no answer after 100 ms", false, head,
       FailureCause::headers},
      {R"({"fault":"no_http"})", false, ErrorKind::protocol, "does not answer in HTTP/1.1", false},
      {R"({"fault":"cut"})", false, ErrorKind::unavailable, "the connection broke off", true},
      {R"({"fault":"cut"})", true, ErrorKind::unavailable, "the connection broke off", true},
      {R"({"fault":"reset","after":1})", true, ErrorKind::unavailable, "the connection broke off",
       true},
      {R"({"fault":"wrong_length"})", false, ErrorKind::unavailable, "the connection broke off",
       true},
      {R"({"fault":"hang_mid"})", false, ErrorKind::timeout, "sent nothing for 100 ms", true, idle,
       FailureCause::idle},
      {R"({"fault":"hang_mid"})", true, ErrorKind::timeout, "sent nothing for 100 ms", true, idle,
       FailureCause::idle},
      {R"({"fault":"drip","pause_ms":10})", false, ErrorKind::timeout, "not complete after 300 ms",
       true, total, FailureCause::total},
      {R"({"fault":"endless"})", true, ErrorKind::protocol, "answers with more than 1 MB", true},
      {R"({"fault":"long_body"})", false, ErrorKind::protocol, "answers with more than 1 MB", true},
      {R"({"fault":"gzip_bomb"})", false, ErrorKind::protocol,
       "answers 200 with a compressed body, which was not requested", true},
  };
  HttpClient client;
  for (const Case& c : cases) {
    CAPTURE(c.behaviour);
    CAPTURE(c.stream);
    FakeUpstream server;
    server.queue_behaviour(c.behaviour);
    HttpRequest request = c.stream ? post(server.url() + "/v1/chat/completions", kChat)
                                   : post(server.url() + "/embed", kEmbed);
    request.timeouts = c.deadlines;
    request.max_body_bytes = 1u << 20;
    CapturingSink sink;
    const auto failure = client.perform(request, sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.kind == c.kind);
    CHECK(failure->error.message == c.message);
    CHECK(failure->connected);
    CHECK(failure->answered == c.answered);
    CHECK(failure->cause == c.cause);
    CHECK(sink.text.size() <= request.max_body_bytes);
    CHECK(server.wait_for_requests(
        1));  // the connection was closed, so the server is not left waiting
  }
}

TEST_CASE("the first_token timeout runs until the sink has received useful content") {
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"endless_pings","token_delay_ms":5})");
  HttpClient client;
  CapturingSink sink;
  sink.on_body = [](std::string_view) { return BodyProgress::nothing_useful; };
  HttpRequest request = post(server.url() + "/v1/chat/completions", kChat);
  request.timeouts.first_token = 200ms;
  const auto failure = client.perform(request, sink, {});
  REQUIRE(failure.has_value());
  CHECK(failure->error.kind == ErrorKind::timeout);
  CHECK(failure->error.message == "no first token after 200 ms");
  CHECK(failure->cause == FailureCause::first_token);
  CHECK(sink.pieces > 0);
}

TEST_CASE("time spent in the sink does not count as idle") {
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"endless","token_delay_ms":1})");
  HttpClient client;
  CapturingSink sink;
  sink.on_body = [&](std::string_view) {
    std::this_thread::sleep_for(120ms);
    return sink.pieces < 2 ? BodyProgress::content : BodyProgress::stop_reading;
  };
  HttpRequest request = post(server.url() + "/v1/chat/completions", kChat);
  request.timeouts.idle = 100ms;
  const auto failure = client.perform(request, sink, {});
  CHECK_FALSE(failure.has_value());
}

TEST_CASE("a timeout of zero means no limit") {
  FakeUpstream server;
  server.queue_behaviour(R"({"delay_ms":50,"first_token_ms":50})");
  HttpClient client;
  CapturingSink sink;
  HttpRequest request = post(server.url() + "/v1/chat/completions", kChat);
  request.timeouts = {0ms, 0ms, 0ms, 0ms, 0ms};
  CHECK_FALSE(client.perform(request, sink, {}).has_value());
  CHECK(sink.response_head.status == 200);
}

TEST_CASE("a sink that returns `stop_reading` ends the transfer as a success") {
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"endless","token_delay_ms":1})");
  HttpClient client;
  CapturingSink sink;
  sink.on_body = [&](std::string_view) {
    return sink.pieces < 3 ? BodyProgress::content : BodyProgress::stop_reading;
  };
  const auto request = post(server.url() + "/v1/chat/completions", kChat);
  CHECK_FALSE(client.perform(request, sink, {}).has_value());
  CHECK(sink.pieces == 3);  // and is not called again
  REQUIRE(server.wait_for_requests(1));
  CHECK(server.requests().at(0).disconnected_after.has_value());
}

TEST_CASE("after `content_complete` the transfer waits at most a second and succeeds in any case") {
  FakeUpstream server;
  HttpClient client;
  for (const char* behaviour :
       {R"({"fault":"hang_mid"})", R"({"fault":"cut"})", R"({"fault":"endless"})", "{}"}) {
    CAPTURE(std::string(behaviour));
    server.reset();
    server.queue_behaviour(behaviour);
    CapturingSink sink;
    sink.on_body = [](std::string_view) { return BodyProgress::content_complete; };
    CHECK_FALSE(
        client.perform(post(server.url() + "/v1/chat/completions", kChat), sink, {}).has_value());
    REQUIRE(server.wait_for_requests(1));
    CHECK(sink.text.ends_with("[DONE]\n\n") == (std::string(behaviour) == "{}"));
  }
}

TEST_CASE("an error of the sink ends the transfer and becomes its error") {
  FakeUpstream server;
  HttpClient client;
  CapturingSink sink;
  const auto refuse = [] { return fail(ErrorKind::data, "no", "ask again"); };
  SUBCASE("for the headers") {
    sink.on_head = [&](const ResponseHead&) -> Result<> { return refuse(); };
  }
  SUBCASE("for the body") {
    sink.on_body = [&](std::string_view) -> Result<BodyProgress> { return refuse(); };
  }
  const auto failure = client.perform(post(server.url() + "/embed", kEmbed), sink, {});
  REQUIRE(failure.has_value());
  CHECK(failure->error.kind == ErrorKind::data);
  CHECK(failure->error.message == "no");
  CHECK(failure->error.hint == "ask again");
  CHECK(failure->answered);
  CHECK(sink.pieces <= 1);
}

TEST_CASE("a stop request ends the transfer and closes its connection") {
  FakeUpstream server;
  HttpClient client;
  CapturingSink sink;
  std::stop_source source;
  std::optional<TransferFailure> failure;
  const auto ask = [&](const char* path, const char* body) {
    failure = client.perform(post(server.url() + path, body), sink, source.get_token());
  };
  bool answered = true;

  SUBCASE("before the start") {
    source.request_stop();
    ask("/embed", kEmbed);
    CHECK(server.connections() == 0);
    REQUIRE(failure.has_value());
    CHECK(failure->error.kind == ErrorKind::cancelled);
    return;
  }
  SUBCASE("while the response headers are awaited") {
    answered = false;
    server.queue_behaviour(R"({"fault":"hang"})");
    std::jthread client_thread([&] { ask("/embed", kEmbed); });
    wait_until([&] { return server.requests().size() == 1; });
    source.request_stop();
  }
  SUBCASE("while the body hangs") {
    server.queue_behaviour(R"({"fault":"hang_mid"})");
    std::atomic<bool> got_body = false;
    sink.on_body = [&](std::string_view) {
      got_body = true;
      return BodyProgress::content;
    };
    std::jthread client_thread([&] { ask("/embed", kEmbed); });
    wait_until([&] { return got_body.load(); });
    source.request_stop();
  }
  SUBCASE("from within the sink") {
    server.queue_behaviour(R"({"fault":"endless","token_delay_ms":1})");
    sink.on_body = [&](std::string_view) {
      source.request_stop();
      return BodyProgress::content;
    };
    ask("/v1/chat/completions", kChat);
  }
  REQUIRE(failure.has_value());
  CHECK(failure->error.kind == ErrorKind::cancelled);
  CHECK(failure->connected);
  CHECK(failure->answered == answered);
  REQUIRE(server.wait_for_requests(1));
  CHECK(server.requests().at(0).disconnected_after.has_value());

  // The closed connection is not reused.
  CapturingSink next;
  CHECK_FALSE(client.perform(post(server.url() + "/embed", kEmbed), next, {}).has_value());
  CHECK(next.response_head.status == 200);
  CHECK(server.connections() == 2);
}

TEST_CASE("a proxy from the environment is not used for loopback addresses") {
  FakeUpstream server;
  HttpClient client;
  const std::string proxy = unused_url();
  ::setenv("http_proxy", proxy.c_str(), 1);
  HttpRequest request = post(server.url() + "/embed", kEmbed);
  CapturingSink sink;
  CHECK_FALSE(client.perform(request, sink, {}).has_value());
  request.use_proxy = true;
  const auto failure = client.perform(request, sink, {});
  ::unsetenv("http_proxy");
  REQUIRE(failure.has_value());
  CHECK(failure->error.message == "connection refused");
}

TEST_CASE("a refusal by the proxy is reported, and the proxy never sees the key") {
  FakeUpstream proxy;
  HttpClient client;
  ::setenv("https_proxy", proxy.url().c_str(), 1);
  HttpRequest request = post("https://model.example/v1/embeddings", kEmbed);
  request.use_proxy = true;
  request.key = Secret("s3cret");
  CapturingSink sink;
  const auto failure = client.perform(request, sink, {});
  ::unsetenv("https_proxy");
  REQUIRE(failure.has_value());
  CHECK(failure->error.kind == ErrorKind::unavailable);
  CHECK(failure->error.message == "CONNECT tunnel failed, response 404");
  CHECK_FALSE(failure->connected);
  CHECK(sink.heads == 0);
  REQUIRE(proxy.wait_for_requests(1));
  CHECK(proxy.requests().at(0).method == "CONNECT");
  CHECK(proxy.requests().at(0).authorization.empty());
}

}  // namespace http_client_test
