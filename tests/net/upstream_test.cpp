#include "net/upstream.h"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/upstream_fixture.h"

namespace upstream_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::net;
using testing::CapturingLog;
using testing::CapturingSink;
using testing::FakeUpstream;
using testing::has;
using testing::kEmbed;
using testing::kTestKey;
using testing::UpstreamFixture;

namespace {

// Plays a list of outcomes and stores the requests.
struct ScriptedTransport final : SynchronousTransport {
  struct Step {
    std::optional<TransferFailure> failure = {};
    int status = 200;
    std::optional<std::chrono::seconds> retry_after = {};
  };
  std::vector<Step> steps;
  std::vector<HttpRequest> requests;
  std::string body = "{}";
  int pieces = 1;

  std::optional<TransferFailure> perform(const HttpRequest& request, BodySink& sink,
                                         std::stop_token) override {
    const Step step = requests.size() < steps.size() ? steps[requests.size()] : Step();
    requests.push_back(request);
    if (step.failure) return step.failure;
    const Result<> accepted = sink.head({step.status, "application/json", step.retry_after, {}});
    if (!accepted) return TransferFailure{accepted.error(), true, true};
    for (int i = 0; i < pieces; ++i) {
      const auto progress = sink.body(body);
      if (!progress) return TransferFailure{progress.error(), true, true};
      if (*progress == BodyProgress::stop_reading) break;
    }
    return std::nullopt;
  }
};

TransferFailure failure(ErrorKind kind, bool connected, bool answered) {
  return {Error(kind, "it failed"), connected, answered};
}

}  // namespace

TEST_CASE("a call returns the whole response") {
  FakeUpstream server({.key = kTestKey});
  UpstreamFixture fixture(server.url());
  fixture.options.key = Secret(kTestKey);
  const auto answer = fixture.embed();
  REQUIRE_MESSAGE(answer.has_value(), answer.error().message);
  CHECK(answer->ok());
  CHECK(answer->content_type == "application/json");
  CHECK(answer->body.starts_with("[["));
  CHECK(server.requests().at(0).authorization == std::string("Bearer ") + kTestKey);
  CHECK(fixture.log.text.empty());
}

TEST_CASE("a request is made from the call and the options") {
  ScriptedTransport transport;
  NullLog log;
  UpstreamOptions options{
      "generator", BaseUrl::parse("http://host:8000", ApiRoot::versioned).value(), Secret("k"), {}};
  options.timeouts.headers = 7s;
  Upstream upstream(options, transport, log);
  CapturingSink sink;
  REQUIRE(testing::stream(upstream, {"chat/completions", "{}", "the question"}, sink, transport)
              .has_value());
  REQUIRE(upstream.call({"models", ""}, {}).has_value());
  REQUIRE(upstream.call({"models", "", "", 2s}, {}).has_value());

  const HttpRequest& chat = transport.requests.at(0);
  CHECK(chat.method == "POST");
  CHECK(chat.url == "http://host:8000/v1/chat/completions");
  CHECK(chat.body == "{}");
  CHECK(chat.accept == "text/event-stream, application/json");
  CHECK(chat.key.reveal() == "k");
  CHECK(chat.use_proxy);
  CHECK(chat.role == "generator");
  CHECK(chat.endpoint == "chat/completions");
  CHECK(chat.subject == "the question");
  CHECK(chat.timeouts.headers == 7s);
  CHECK(chat.timeouts.total <= 300s);
  CHECK(chat.timeouts.total > 200s);
  CHECK(transport.requests.at(1).method == "GET");
  CHECK(transport.requests.at(1).accept == "application/json");
  CHECK(transport.requests.at(2).timeouts.total <= 2s);

  options.url = BaseUrl::parse("http://localhost:8000", ApiRoot::versioned).value();
  Upstream local(options, transport, log);
  REQUIRE(local.call({"models", ""}, {}).has_value());
  CHECK_FALSE(transport.requests.back().use_proxy);
}

TEST_CASE("only failures that are safe to repeat are retried") {
  using Step = ScriptedTransport::Step;
  struct Case {
    std::string name;
    Step step;
    bool again;
  };
  const Case cases[] = {
      {"answered", {}, false},
      {"not connected", {failure(ErrorKind::unavailable, false, false)}, true},
      {"no connection in time", {failure(ErrorKind::timeout, false, false)}, true},
      {"broke off before the head", {failure(ErrorKind::unavailable, true, false)}, false},
      {"broke off after the head", {failure(ErrorKind::unavailable, true, true)}, false},
      {"no head in time", {failure(ErrorKind::timeout, true, false)}, false},
      {"silence after the head", {failure(ErrorKind::timeout, true, true)}, false},
      {"no TLS", {failure(ErrorKind::protocol, false, false)}, false},
      {"too large", {failure(ErrorKind::protocol, true, true)}, false},
      {"a key that cannot be sent", {failure(ErrorKind::config, false, false)}, false},
      {"cancelled", {failure(ErrorKind::cancelled, false, false)}, false},
      {"429", {{}, 429}, true},
      {"502", {{}, 502}, true},
      {"503", {{}, 503}, true},
      {"504", {{}, 504}, true},
      {"500", {{}, 500}, false},
      {"501", {{}, 501}, false},
      {"400", {{}, 400}, false},
      {"401", {{}, 401}, false},
      {"404", {{}, 404}, false},
      {"413", {{}, 413}, false},
      {"424", {{}, 424}, false},
      {"302", {{}, 302}, false},
  };
  struct Outcome {
    std::vector<HttpRequest> requests;
    int warnings = 0;
    bool ok = false;
  };
  const auto play = [](const Step& step) {
    ScriptedTransport transport;
    transport.steps = {step};
    CapturingLog log;
    UpstreamOptions options{"embedder", BaseUrl::parse("host", ApiRoot::plain).value(), {}, {}};
    Upstream upstream(options, transport, log);
    const auto answer = upstream.call({"embed", "{}"}, {});
    return Outcome{transport.requests, log.warnings, answer && answer->ok()};
  };
  std::vector<std::future<Outcome>> outcomes;  // in parallel, because each retry waits
  for (const Case& c : cases) outcomes.push_back(std::async(std::launch::async, play, c.step));
  for (size_t i = 0; i < std::size(cases); ++i) {
    CAPTURE(cases[i].name);
    const Outcome outcome = outcomes[i].get();
    CHECK(outcome.requests.size() == (cases[i].again ? 2 : 1));
    CHECK(outcome.warnings == (cases[i].again ? 1 : 0));
    if (!cases[i].again) continue;
    CHECK(outcome.ok);
    CHECK(outcome.requests[1].timeouts.total < outcome.requests[0].timeouts.total);
  }
}

TEST_CASE("there are no more retries than the option allows") {
  ScriptedTransport transport;
  transport.steps.assign(5, {failure(ErrorKind::unavailable, false, false)});
  NullLog log;
  UpstreamOptions options{"embedder", BaseUrl::parse("host", ApiRoot::plain).value(), {}, {}};
  SUBCASE("no retry") { options.retries = 0; }
  SUBCASE("one retry") { options.retries = 1; }
  SUBCASE("no time for a retry") {
    options.timeouts.total = 90ms;  // the shortest delay is 100 ms
    options.retries = 0;
  }
  Upstream upstream(options, transport, log);
  CHECK_FALSE(upstream.call({"embed", "{}"}, {}).has_value());
  CHECK(transport.requests.size() == static_cast<size_t>(options.retries) + 1);
}

TEST_CASE("Retry-After is honoured if there is time") {
  FakeUpstream server;
  UpstreamFixture fixture(server.url());
  SUBCASE("there is time") {
    server.queue_behaviour(R"({"status":503,"retry_after":1})");
    const auto before = std::chrono::steady_clock::now();
    const auto answer = fixture.embed();
    REQUIRE(answer.has_value());
    CHECK(answer->ok());
    CHECK(std::chrono::steady_clock::now() - before >= 1s);
    CHECK(has(fixture.log.text, "answers 503; retrying in 1."));
  }
  SUBCASE("it is after the timeout") {
    fixture.options.timeouts.total = 3s;
    server.queue_behaviour(R"({"status":429,"retry_after":5})");
    const auto answer = fixture.embed();
    REQUIRE(answer.has_value());
    CHECK(answer->status == 429);
    CHECK(answer->retry_after == 5s);
    CHECK(server.requests().size() == 1);
    CHECK(fixture.upstream().status_error(*answer).hint == "try again in 5 s");
  }
  SUBCASE("it is longer than 30 s") {
    server.queue_behaviour(R"({"status":429,"retry_after":31})");
    const auto answer = fixture.embed();
    REQUIRE(answer.has_value());
    CHECK(answer->status == 429);
    CHECK(server.requests().size() == 1);
  }
}

TEST_CASE("the sink receives a streamed response") {
  FakeUpstream server;
  UpstreamFixture fixture(server.url(), "generator");
  CapturingSink sink;
  SUBCASE("a 2xx response") {
    const auto answer = fixture.chat(sink);
    REQUIRE(answer.has_value());
    CHECK(answer->ok());
    CHECK(answer->content_type == "text/event-stream");
    CHECK(answer->body.empty());
    CHECK(sink.heads == 1);
    CHECK(has(sink.text, "data: [DONE]"));
  }
  SUBCASE("a 2xx response after an error response") {
    server.queue_behaviour(R"({"status":503,"message":"Loading model"})");
    REQUIRE(fixture.chat(sink).has_value());
    CHECK(sink.heads == 1);
    CHECK_FALSE(has(sink.text, "Loading"));
    CHECK(server.requests().size() == 2);
    CHECK(fixture.log.warnings == 1);
  }
  SUBCASE("but not an error response") {
    server.queue_behaviour(R"({"status":400,"message":"no stream_options"})");
    const auto answer = fixture.chat(sink);
    REQUIRE(answer.has_value());
    CHECK(answer->status == 400);
    CHECK(has(answer->body, "no stream_options"));
    CHECK(sink.heads == 0);
    CHECK(sink.pieces == 0);
  }
  SUBCASE("and nothing is retried after the headers") {
    server.queue_behaviour(R"({"fault":"cut"})");
    const auto answer = fixture.chat(sink);
    REQUIRE_FALSE(answer.has_value());
    CHECK(has(answer.error().message, "the connection broke off"));
    CHECK(sink.heads == 1);
    CHECK(server.requests().size() == 1);
  }
  SUBCASE("its error is returned unchanged") {
    sink.on_body = [](std::string_view) -> Result<BodyProgress> {
      return fail(ErrorKind::protocol, "what is that", "look");
    };
    const auto answer = fixture.chat(sink);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().message == "what is that");
    CHECK(answer.error().hint == "look");
  }
  SUBCASE("and it may end the transfer with `stop_reading`") {
    server.queue_behaviour(R"({"fault":"endless"})");
    sink.on_body = [](std::string_view) { return BodyProgress::stop_reading; };
    CHECK(fixture.chat(sink).has_value());
  }
}

TEST_CASE("a redirect is not followed and the key is not sent to its target") {
  FakeUpstream server, other;
  server.queue_behaviour(R"({"status":302,"times":0,"headers":{"Location":")" + other.url() +
                         R"(/embed"}})");
  UpstreamFixture fixture(server.url());
  fixture.options.key = Secret(kTestKey);
  const auto answer = fixture.embed();
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().kind == ErrorKind::protocol);
  CHECK(answer.error().message ==
        "embedder at " + server.url() + ": answers 302 with a redirect to " + other.url());
  CHECK(answer.error().hint == "give the final address as embedder.url (STOKA_EMBED_URL)");
  CHECK(server.requests().size() == 1);
  CHECK(other.connections() == 0);
}

TEST_CASE("after consecutive failures no request is sent for a while") {
  FakeUpstream server;
  UpstreamFixture fixture(server.url());
  fixture.options.retries = 0;
  fixture.options.breaker = {3, 60s, 60s};
  const auto count_requests = [&](const std::string& behaviour) {
    server.reset();
    server.queue_behaviour(behaviour);
    for (int i = 0; i < 6; ++i) static_cast<void>(fixture.embed());
    return server.requests().size();
  };
  SUBCASE("closed connection") { CHECK(count_requests(R"({"fault":"close","times":0})") == 3); }
  SUBCASE("broken HTTP") { CHECK(count_requests(R"({"fault":"no_http","times":0})") == 3); }
  SUBCASE("502") { CHECK(count_requests(R"({"status":502,"times":0})") == 3); }
  SUBCASE("503") { CHECK(count_requests(R"({"status":503,"times":0})") == 3); }
  SUBCASE("503 with Retry-After does not count") {
    CHECK(count_requests(R"({"status":503,"retry_after":1,"times":0})") == 6);
  }
  SUBCASE("500 does not count") { CHECK(count_requests(R"({"status":500,"times":0})") == 6); }
  SUBCASE("429 does not count") { CHECK(count_requests(R"({"status":429,"times":0})") == 6); }
  SUBCASE("401 does not count") { CHECK(count_requests(R"({"status":401,"times":0})") == 6); }
  SUBCASE("a redirect does not count") {
    CHECK(count_requests(R"({"fault":"redirect","times":0})") == 6);
  }
  SUBCASE("the error says so") {
    count_requests(R"({"fault":"close","times":0})");
    const auto answer = fixture.embed();
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().kind == ErrorKind::unavailable);
    CHECK(has(answer.error().message,
              "embedder at " + server.url() + " failed 3 times in a row, next try in "));
    CHECK(answer.error().hint == "start it, or set embedder.url (STOKA_EMBED_URL)");
  }
}

TEST_CASE("an error of the sink does not count as a failure of the server") {
  FakeUpstream server;
  UpstreamFixture fixture(server.url(), "generator");
  fixture.options.retries = 0;
  fixture.options.breaker = {3, 60s, 60s};
  const auto count_requests = [&](ErrorKind kind) {
    CapturingSink sink;
    sink.on_body = [&](std::string_view) -> Result<BodyProgress> { return fail(kind, "no"); };
    for (int i = 0; i < 6; ++i) CHECK_FALSE(fixture.chat(sink).has_value());
    return sink.heads;
  };
  SUBCASE("the sink rejects the response") { CHECK(count_requests(ErrorKind::protocol) == 6); }
  SUBCASE("the sink has run out of time") { CHECK(count_requests(ErrorKind::timeout) == 6); }
  SUBCASE("unless the sink reports that the server is unavailable") {
    CHECK(count_requests(ErrorKind::unavailable) == 3);
  }
}

TEST_CASE("a trial call lets other calls pass while its response streams") {
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"close","times":1})");
  UpstreamFixture fixture(server.url(), "generator");
  fixture.options.retries = 0;
  fixture.options.breaker = {1, 200ms, 200ms};
  CapturingSink first;
  CHECK_FALSE(fixture.chat(first).has_value());
  bool let_in = false;
  first.on_body = [&](std::string_view) -> Result<BodyProgress> {
    let_in = let_in || fixture.upstream().call({.endpoint = "models", .body = ""}, {}).has_value();
    return BodyProgress::content;
  };
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!fixture.chat(first)) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(1ms);
  }
  CHECK(let_in);
}

TEST_CASE("at most 64 KB of an error response are kept") {
  ScriptedTransport transport;
  transport.body = std::string(40 << 10, 'x');
  transport.pieces = 1000;
  NullLog log;
  UpstreamOptions options{"embedder", BaseUrl::parse("host", ApiRoot::plain).value(), {}, {}};
  Upstream upstream(options, transport, log);
  for (const auto& [status, size] : {std::pair(400, 64 << 10), std::pair(200, 40000 << 10)}) {
    transport.steps.assign(2, {{}, status});
    const auto answer = upstream.call({"embed", "{}"}, {});
    REQUIRE(answer.has_value());
    CHECK(answer->body.size() == static_cast<size_t>(size));
    transport.requests.clear();
  }
}

TEST_CASE("calls succeed again when the server is back") {
  FakeUpstream server;
  server.queue_behaviour(R"({"status":502,"times":4})");
  UpstreamFixture fixture(server.url());
  fixture.options.retries = 0;
  fixture.options.breaker = {3, 20ms, 20ms};
  const auto end = std::chrono::steady_clock::now() + 10s;
  for (bool back = false; !back;) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    const auto answer = fixture.embed();
    back = answer && answer->ok();
    if (!back) std::this_thread::sleep_for(1ms);
  }
  CHECK(server.requests().size() == 5);
  CHECK(fixture.embed().has_value());
}

TEST_CASE("a stop request ends every wait") {
  FakeUpstream server;
  UpstreamFixture fixture(server.url());
  fixture.options.semaphore = {1, 8, 60s};
  fixture.upstream();
  std::stop_source source;
  std::jthread stopping;
  SUBCASE("for the response") {
    server.queue_behaviour(R"({"fault":"hang"})");
    stopping = std::jthread([&] {
      while (server.requests().empty()) std::this_thread::sleep_for(1ms);
      source.request_stop();
    });
  }
  SUBCASE("for a retry") {
    server.queue_behaviour(R"({"status":503,"retry_after":20})");
    fixture.log.on_warning = [&] { source.request_stop(); };
  }
  SUBCASE("for a permit") {
    server.queue_behaviour(R"({"fault":"hang"})");
    std::jthread first([&] { static_cast<void>(fixture.embed(source.get_token())); });
    while (server.requests().empty()) std::this_thread::sleep_for(1ms);
    stopping = std::jthread([&] {
      std::this_thread::sleep_for(
          5ms);  // it most likely waits by then; the test is also right if it does not
      source.request_stop();
    });
    const auto second = fixture.embed(source.get_token());
    CHECK((second ? ErrorKind::internal : second.error().kind) == ErrorKind::cancelled);
    CHECK(server.requests().size() == 1);
    return;
  }
  const auto answer = fixture.embed(source.get_token());
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().kind == ErrorKind::cancelled);
  REQUIRE(server.wait_for_requests(1));
  CHECK(server.requests().size() == 1);
}

TEST_CASE("the timeout of a call includes its wait for a permit") {
  FakeUpstream server;
  server.queue_behaviour(R"({"fault":"hang"})");
  UpstreamFixture fixture(server.url());
  fixture.options.semaphore = {1, 8, 60s};
  std::stop_source source;
  fixture.upstream();
  std::jthread first([&] { static_cast<void>(fixture.embed(source.get_token())); });
  while (server.requests().empty()) std::this_thread::sleep_for(1ms);
  const auto second = fixture.upstream().call({"embed", kEmbed, "", 100ms}, {});
  source.request_stop();
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().kind == ErrorKind::busy);
  CHECK(has(second.error().message,
            "embedder at " + server.url() + " is busy: no permit became free within "));
}

}  // namespace upstream_test
