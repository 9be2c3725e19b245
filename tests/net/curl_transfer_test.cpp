// Raw bytes from a server, and how a transfer reads them.
#include <doctest/doctest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "net/capturing_sink.h"
#include "net/http_client.h"
#include "support/canned_server.h"
#include "support/upstream/fake_upstream.h"

namespace curl_transfer_test {

using namespace stoka;
using namespace stoka::net;
using testing::CannedServer;
using testing::CapturingSink;
using testing::FakeUpstream;
using testing::get;
using testing::kEmbed;
using testing::post;

TEST_CASE("response headers are parsed in all their forms") {
  struct Case {
    std::string answer;
    ResponseHead head;
    std::string body;
  };
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const Case cases[] = {
      {ok + "Content-Type: Text/Event-Stream; charset=utf-8\r\nContent-Length: 2\r\n\r\nhi",
       {200, "text/event-stream", {}},
       "hi"},
      {ok + "\r\nuntil the end", {200, "", {}}, "until the end"},
      {"HTTP/1.0 200 OK\r\n\r\nold", {200, "", {}}, "old"},
      {"HTTP/1.1 200\r\n\r\nno reason", {200, "", {}}, "no reason"},
      {"HTTP/1.1 200 OK\nContent-Type: a/b\n\nbare", {200, "a/b", {}}, "bare"},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Type: x/y\r\n\r\n" + ok +
           "Content-Length: 2\r\n\r\nhi",
       {200, "", {}},
       "hi"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nContent-Type: late\r\n\r\n",
       {200, "", {}},
       "hi"},
      {ok + "Content-Encoding: identity\r\n\r\nhi", {200, "", {}}, "hi"},
      {ok + "Content-Type: \x1b[31m\r\n\r\nhi", {200, "", {}}, "hi"},
      {"HTTP/1.1 204 No Content\r\n\r\n", {204, "", {}}, ""},
      {"HTTP/1.1 429 Later\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
       {429, "", std::chrono::seconds(7)},
       ""},
      {"HTTP/1.1 503 Later\r\nRetry-After: Wed, 21 Oct 2026 07:28:00 GMT\r\n\r\n",
       {503, "", {}},
       ""},
      {"HTTP/1.1 503 Later\r\nRetry-After: 99999999999999999999\r\n\r\n", {503, "", {}}, ""},
      {"HTTP/1.1 503 Later\r\nRetry-After: 999999999\r\n\r\n",
       {503, "", std::chrono::seconds(86400)},
       ""},
      {"HTTP/1.1 503 Later\r\nRetry-After: -1\r\n\r\n", {503, "", {}}, ""},
      {ok + "RateLimit-Limit: 30\r\nRateLimit-Remaining: 12\r\n\r\nhi",
       {200, "", {}, "", 12},
       "hi"},
      {ok + "RateLimit-Remaining: many\r\n\r\nhi", {200, "", {}}, "hi"},
      {"HTTP/1.1 302 Found\r\nLocation: https://Other:8443/a?key=b\r\nContent-Length: 0\r\n\r\n",
       {302, "", {}, "https://other:8443"},
       ""},
      {"HTTP/1.1 307 Moved\r\nLocation: /v1/embed\r\n\r\n", {307, "", {}}, ""},
      {"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n", {302, "", {}}, ""},
      {"HTTP/1.1 302 Found\r\nLocation: http://user:word@other/\r\n\r\n", {302, "", {}}, ""},
  };
  HttpClient client;
  for (const Case& c : cases) {
    CAPTURE(c.answer);
    const CannedServer server(c.answer);
    CapturingSink sink;
    const auto failure = client.perform(get(server.url()), sink, {});
    REQUIRE_MESSAGE(!failure, failure->error.message);
    CHECK(sink.heads == 1);
    CHECK(sink.response_head.status == c.head.status);
    CHECK(sink.response_head.content_type == c.head.content_type);
    CHECK(sink.response_head.retry_after == c.head.retry_after);
    CHECK(sink.response_head.location == c.head.location);
    CHECK(sink.response_head.rate_limit_remaining == c.head.rate_limit_remaining);
    CHECK(sink.text == c.body);
  }
}

TEST_CASE("invalid HTTP gives a protocol error") {
  std::string long_head = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 8000; ++i) long_head += "X-Filler: y\r\n";
  std::string many_heads;
  for (int i = 0; i < 4000; ++i) many_heads += "HTTP/1.1 100 Continue\r\n\r\n";
  const std::string answers[] = {
      long_head + "\r\nhi",
      many_heads + "HTTP/1.1 200 OK\r\n\r\nhi",
      "HTTP/1.1 200 OK\r\nX: " + std::string(200 * 1024, 'y') + "\r\n\r\nhi",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nhi",
      "HTTP/1.1 600 Six\r\nContent-Length: 2\r\n\r\nhi",
      "SSH-2.0-OpenSSH_9.2\r\n",
      "ICY 200 OK\r\n\r\nhi",
      "HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2x3\r\nTransfer-Encoding: nonsense\r\n\r\nhi",
  };
  HttpClient client;
  for (const std::string& answer : answers) {
    const std::string start = answer.substr(0, 60);
    CAPTURE(start);
    const CannedServer server(answer);
    CapturingSink sink;
    const auto failure = client.perform(get(server.url()), sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.kind == ErrorKind::protocol);
    CHECK(failure->error.message.find_first_of("\r\n") == std::string::npos);
    CHECK(sink.text.empty());
  }
}

TEST_CASE("an exception in a sink gives an internal error") {
  const CannedServer server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  HttpClient client;
  CapturingSink in_head, in_body, of_memory;
  in_head.on_head = [](const ResponseHead&) -> Result<> { throw std::runtime_error("oh"); };
  in_body.on_body = [](std::string_view) -> Result<BodyProgress> { throw 7; };
  of_memory.on_body = [](std::string_view) -> Result<BodyProgress> { throw std::bad_alloc(); };
  const std::pair<CapturingSink*, std::string> cases[] = {
      {&in_head, "the response could not be processed: oh"},
      {&in_body, "the response could not be processed"},
      {&of_memory, "out of memory"}};
  for (const auto& [sink, message] : cases) {
    const auto failure = client.perform(get(server.url()), *sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.kind == ErrorKind::internal);
    CHECK(failure->error.message == message);
  }
}

TEST_CASE("a key that would corrupt its header is not sent") {
  FakeUpstream server;
  HttpClient client;
  for (const char* key : {"abc\r\nX-Evil: 1", "abc\n", "a\tbc", "abc\x7f"}) {
    CapturingSink sink;
    HttpRequest request = post(server.url() + "/embed", kEmbed);
    request.key = Secret(key);
    const auto failure = client.perform(request, sink, {});
    REQUIRE(failure.has_value());
    CHECK(failure->error.kind == ErrorKind::config);
    CHECK_FALSE(failure->connected);
    CHECK((failure->error.message + failure->error.hint).find("abc") == std::string::npos);
  }
  CHECK(server.connections() == 0);
}

}  // namespace curl_transfer_test
