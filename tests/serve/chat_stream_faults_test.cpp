// Chat over HTTP when a model server fails: a status before the stream, or an error event in it.
#include <doctest/doctest.h>

#include <set>

#include "serve/chat_server_fixture.h"
#include "serve/chat_stream.h"

namespace chat_stream_faults_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr std::string_view kOver = "done";
constexpr std::string_view kBroken = "error";

struct Case {
  const char* behaviour;
  int status;              // 200: of a stream
  std::string_view end;    // of the stream; else the problem's code
  const char* retry = "";  // Retry-After
};

// Short deadlines, for servers that do not answer.
net::Timeouts short_deadlines() {
  using net::Milliseconds;
  return {Milliseconds(5000), Milliseconds(300), Milliseconds(600), Milliseconds(500),
          Milliseconds(1500)};
}

net::CircuitBreakerOptions unbreakable() {
  net::CircuitBreakerOptions out;
  out.failure_threshold = 1000000;
  return out;
}

void check(const ChatReply& reply, const Case& expected) {
  CAPTURE(std::string(expected.behaviour));
  CAPTURE(reply.problem.dump());
  CAPTURE(reply.body.substr(0, 2000));
  REQUIRE(reply.status == expected.status);
  if (expected.status != 200) {
    CHECK(reply.events.empty());
    CHECK(reply.problem["status"] == expected.status);
    CHECK(reply.problem["code"] == expected.end);
    CHECK(reply.problem["detail"].get<std::string>() != "");
    CHECK(reply.header("retry-after") == expected.retry);
    return;
  }
  REQUIRE(reply.well_formed());
  CHECK(reply.last().name == expected.end);
}

}  // namespace

TEST_CASE("a generator fault gives an error status, or an error event if the stream has begun") {
  const std::vector<Case> cases = {
      {R"({"fault":"close"})", 503, "unavailable", "5"},
      {R"({"fault":"reset"})", 503, "unavailable", "5"},
      {R"({"fault":"reset","after":3})", 200, kBroken},
      {R"({"fault":"hang"})", 503, "timeout", "5"},
      {R"({"fault":"half_head"})", 503, "timeout", "5"},
      {R"({"fault":"cut_head"})", 503, "unavailable", "5"},
      {R"({"fault":"no_http"})", 503, "protocol", "5"},
      {R"({"fault":"hang_mid"})", 200, kBroken},
      {R"({"fault":"hang_mid","after":0})", 200, kBroken},
      {R"({"fault":"cut"})", 200, kBroken},
      {R"({"fault":"cut","after":0})", 200, kBroken},
      {R"({"fault":"cut_in_tag"})", 200, kBroken},
      {R"({"fault":"close_after"})", 200, kOver},
      {R"({"fault":"drip","pause_ms":0})", 200, kOver},
      {R"({"fault":"empty"})", 200, kBroken},
      {R"({"fault":"html"})", 503, "protocol", "5"},
      {R"({"fault":"html","status":500})", 503, "unavailable", "5"},
      {R"({"fault":"truncated_json"})", 200, kBroken},
      {R"({"fault":"wrong_length"})", 200, kOver},
      {R"({"fault":"long_body"})", 200, kBroken},
      {R"({"fault":"gzip_bomb"})", 503, "protocol", "5"},
      {R"({"fault":"redirect"})", 503, "protocol", "5"},
      {R"({"fault":"refuse_fields","field":"stream_options","times":1})", 200, kOver},
      {R"({"fault":"reject_key"})", 503, "config", "5"},
      {R"({"fault":"no_stream"})", 200, kOver},
      {R"({"fault":"no_done"})", 200, kOver},
      {R"({"fault":"no_blank"})", 200, kOver},
      {R"({"fault":"no_finish"})", 200, kBroken},
      {R"({"fault":"error_event"})", 200, kBroken},
      {R"({"fault":"error_event","after":0})", 200, kBroken},
      {R"({"fault":"long_line"})", 200, kBroken},
      {R"({"fault":"endless"})", 200, kOver},
      {R"({"fault":"endless_thinking"})", 200, kBroken},
      {R"({"fault":"endless_pings"})", 200, kBroken},
      {R"({"fault":"invalid_utf8"})", 200, kOver},
      {R"({"fault":"lone_surrogate"})", 200, kOver},
      {R"({"status":400})", 503, "protocol", "5"},
      {R"({"status":401})", 503, "config", "5"},
      {R"({"status":404})", 503, "config", "5"},
      {R"({"status":429})", 503, "busy", "2"},
      {R"({"status":500})", 503, "unavailable", "5"},
      {R"({"status":503,"retry_after":1})", 503, "unavailable", "1"},
      {R"({"status":429,"retry_after":47})", 503, "busy", "47"},
      {R"({"status":500,"retry_after":7})", 503, "unavailable", "7"},
      {R"({"status":504})", 503, "unavailable", "5"},
      {R"({"answer":""})", 200, kBroken},
      {R"({"answer":"<cite slug=\"nowhere\" quote=\"x\"/>"})", 200, kOver},
      {R"({"finish":"length"})", 200, kOver},
      {R"({"piece":1})", 200, kOver},
  };
  std::set<std::string> tried;
  for (const char* dialect : {"vllm", "ollama"}) {
    CAPTURE(std::string(dialect));
    FakeOptions options;
    options.dialect = dialect;
    FakeUpstream model(options);
    ChatServerFixture fixture(
        {.generator = model.url(), .deadlines = short_deadlines(), .breaker = unbreakable()});
    for (const Case& item : cases) {
      tried.insert(Json::parse(item.behaviour).value("fault", ""));
      model.queue_behaviour(item.behaviour);
      HttpConnection client = fixture.start({{"query", kQuestion}});
      check(read_reply(client), item);
      // The connection is closed after an error event.
      if (item.end == kBroken) CHECK(client.is_closed());
      CHECK(eventually([&] { return fixture.quiet(); }));
      model.reset();
    }
    CHECK(fixture.metrics.requests("/api/stoka/chat", 200).value() > 0);
  }
  for (const auto& fault : testing::kFaults) {
    const std::string on = " " + std::string(fault.request_kinds) + " ";
    if (on == "  " || on.find(" stream ") != std::string::npos) CHECK(tried.contains(fault.name));
  }
}

TEST_CASE("an answer that broke off is saved and marked as cut off") {
  FakeUpstream model;
  ChatServerFixture fixture({.generator = model.url()});
  model.queue_behaviour(
      R"({"answer":"limits come first and then they stay","fault":"cut","after":6})");
  const ChatReply reply = fixture.ask(kQuestion);
  CHECK(reply.text() == "limits come first and t");
  REQUIRE(reply.last().name == "error");
  CHECK(reply.last().json().size() == 2);
  CHECK(reply.last().json()["retryable"] == true);
  const auto session =
      fixture.parts.store->session(reply.events[0].json()["session_id"].get<std::string>()).value();
  REQUIRE(session);
  CHECK(session->turns == 1);
  REQUIRE(session->exchanges.size() == 1);
  CHECK(session->exchanges[0].assistant == reply.text() + " [cut off]");
  CHECK(fixture.metrics.streams(serve::Metrics::StreamEnd::error).value() == 1);
}

TEST_CASE("chat gets status 503 without embedder or generator, and a warning without reranker") {
  const std::string nobody = "http://127.0.0.1:9";
  FakeUpstream embedder, generator;
  FakeOptions scoring;
  scoring.reranker = true;
  FakeUpstream reranker(scoring);
  {
    ChatServerFixture fixture({embedder.url(), reranker.url(), generator.url()});
    CHECK(fixture.ask(kQuestion).last().name == "done");
    CHECK(fixture.log_text().find("\"warning\"") == std::string::npos);
  }
  {
    ChatServerFixture fixture({nobody, reranker.url(), generator.url()});
    check(fixture.ask(kQuestion), {"embedder", 503, "unavailable", "5"});
    CHECK(fixture.ask("hi").last().name == "done");
  }
  {
    ChatServerFixture fixture({embedder.url(), reranker.url(), nobody});
    check(fixture.ask(kQuestion), {"generator", 503, "unavailable", "5"});
  }
  {
    ChatServerFixture fixture({embedder.url(), nobody, generator.url()});
    const ChatReply reply = fixture.ask(kQuestion);
    CHECK(reply.last().name == "done");
    CHECK(reply.cited().size() == 1);
    CHECK(fixture.log_text().find("\"warning\",\"msg\":\"answering in retrieval order") !=
          std::string::npos);
  }
}

TEST_CASE("an embedder fault gives an error status before the stream begins") {
  FakeUpstream embedder;
  ChatServerFixture fixture(
      {.embedder = embedder.url(), .deadlines = short_deadlines(), .breaker = unbreakable()});
  const std::vector<Case> cases = {
      {R"({"fault":"close"})", 503, "unavailable", "5"},
      {R"({"fault":"hang"})", 503, "timeout", "5"},
      {R"({"fault":"hang_mid"})", 503, "timeout", "5"},
      {R"({"fault":"cut"})", 503, "unavailable", "5"},
      {R"({"fault":"html"})", 503, "protocol", "5"},
      {R"({"fault":"nan"})", 503, "protocol", "5"},
      {R"({"fault":"wrong_count"})", 503, "protocol", "5"},
      {R"({"status":429})", 503, "busy", "2"},
      {R"({"status":429,"retry_after":47})", 503, "busy", "47"},
      {R"({"status":503,"retry_after":600})", 503, "unavailable", "600"},
      {R"({"status":401})", 503, "config", "5"},
  };
  CHECK(fixture.ask(kQuestion).last().name == "done");  // the model of the embedder is known now
  for (const Case& item : cases) {
    Json behaviour = Json::parse(item.behaviour);
    behaviour["path"] = "/embed";
    behaviour["times"] = 0;
    embedder.queue_behaviour(behaviour.dump());
    check(fixture.ask(kQuestion), item);
    embedder.reset();
  }
}

TEST_CASE("an embedder whose /info fails gives status 503") {
  FakeUpstream embedder;
  for (const Case& item :
       std::vector<Case>{{R"({"fault":"hang"})", 503, "timeout", "5"},
                         {R"({"fault":"html"})", 503, "protocol", "5"},
                         {R"({"body":"{}"})", 503, "protocol", "5"},
                         {R"({"fault":"truncated_json"})", 503, "protocol", "5"},
                         {R"({"status":404})", 503, "config", "5"},
                         {R"({"status":500})", 503, "unavailable", "5"},
                         {R"({"status":503,"retry_after":11})", 503, "unavailable", "11"}}) {
    ChatServerFixture fixture(
        {.embedder = embedder.url(), .deadlines = short_deadlines(), .breaker = unbreakable()});
    Json behaviour = Json::parse(item.behaviour);
    behaviour["path"] = "/info";
    behaviour["times"] = 0;
    embedder.queue_behaviour(behaviour.dump());
    check(fixture.ask(kQuestion), item);
    embedder.reset();
  }
}

TEST_CASE("the embedding of a question has a timeout of its own") {
  FakeUpstream embedder;
  embedder.queue_behaviour(R"({"fault":"hang","path":"/embed","times":0})");
  ChatServerFixture fixture({.embedder = embedder.url(), .query_timeout = net::Milliseconds(200)});
  check(fixture.ask(kQuestion), {"hang", 503, "timeout", "5"});
  CHECK(fixture.log_text().find("embedder.query_timeout (STOKA_EMBED_QUERY_TIMEOUT)") !=
        std::string::npos);
}

TEST_CASE("a reranker fault gives a warning, and the question is answered") {
  FakeOptions scoring;
  scoring.reranker = true;
  FakeUpstream reranker(scoring);
  net::Timeouts deadlines = short_deadlines();
  ChatServerFixture fixture(
      {.reranker = reranker.url(), .deadlines = deadlines, .breaker = unbreakable()});
  for (const char* trouble :
       {R"({"fault":"close"})", R"({"fault":"reset"})", R"({"fault":"hang"})",
        R"({"fault":"hang_mid"})", R"({"fault":"cut"})", R"({"fault":"html"})",
        R"({"fault":"no_http"})", R"({"fault":"truncated_json"})", R"({"fault":"gzip_bomb"})",
        R"({"fault":"redirect"})", R"({"status":400})", R"({"status":401})", R"({"status":404})",
        R"({"status":413})", R"({"status":429,"retry_after":47})", R"({"status":500})",
        R"({"body":"[]"})"}) {
    CAPTURE(std::string(trouble));
    Json behaviour = Json::parse(trouble);
    behaviour["times"] = 0;
    reranker.queue_behaviour(behaviour.dump());
    const size_t before = fixture.log_text().size();
    const ChatReply reply = fixture.ask(kQuestion);
    CHECK(reply.status == 200);
    CHECK(reply.last().name == "done");
    CHECK_FALSE(reply.cited().empty());
    CHECK(fixture.log_text().find("answering in retrieval order", before) != std::string::npos);
    reranker.reset();
  }
}

}  // namespace chat_stream_faults_test
