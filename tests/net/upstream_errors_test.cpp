// Errors never contain the key and always say what to do.
#include <doctest/doctest.h>

#include <string>

#include "net/upstream_fixture.h"

namespace upstream_errors_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::net;
using testing::CapturingSink;
using testing::FakeUpstream;
using testing::has;
using testing::kTestKey;
using testing::unused_url;
using testing::UpstreamFixture;

TEST_CASE("an error names the role and the address and has a hint") {
  struct Case {
    std::string role, hint;
  };
  for (const auto& [role, hint] :
       {Case{"embedder", "start it, or set embedder.url (STOKA_EMBED_URL)"},
        Case{"reranker", "start it, or set reranker.url (STOKA_RERANK_URL)"},
        Case{"generator", "start it, or set generator.url (STOKA_GEN_URL)"}}) {
    const std::string url = unused_url();
    UpstreamFixture fixture(url, role);
    fixture.options.retries = 0;
    const auto answer = fixture.upstream().call({.endpoint = "models", .body = ""}, {});
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().kind == ErrorKind::unavailable);
    CHECK(answer.error().message ==
          role + " at " + url + (role == "generator" ? "/v1" : "") + ": connection refused");
    CHECK(answer.error().hint == hint);
  }
}

TEST_CASE("a setting is named with its key, its value and its variable, as far as they are known") {
  UpstreamFixture fixture("http://host");
  CHECK(fixture.upstream().setting_key("url") == "embedder.url");
  CHECK(fixture.upstream().setting_name("url") == "embedder.url (STOKA_EMBED_URL)");
  CHECK(fixture.upstream().setting_name("kind", "tei") == "embedder.kind = tei (STOKA_EMBEDDER)");
  CHECK(fixture.upstream().setting_name("connect_timeout") == "net.connect_timeout");
  CHECK(fixture.upstream().setting_name("other", "1") == "embedder.other = 1");
}

TEST_CASE("each error status has its message and hint") {
  struct Case {
    HttpResponse answer;
    bool key;
    ErrorKind kind;
    std::string message, hint;
  };
  const std::string url = "is this the right server? If not, set embedder.url (STOKA_EMBED_URL)";
  const Case cases[] = {
      {{401, "application/json", R"({"error":"Unauthorized"})"},
       true,
       ErrorKind::config,
       "rejects the key (401): Unauthorized",
       "check embedder.api_key_file, embedder.api_key_command or embedder.api_key, whichever gives "
       "it"},
      {{403, "", ""},
       false,
       ErrorKind::config,
       "requires a key (403)",
       "set embedder.api_key_file (STOKA_EMBED_API_KEY_FILE)"},
      {{403, "application/json", R"({"error":{"message":"No access to it."}})"},
       true,
       ErrorKind::config,
       "denies access (403): No access to it",
       "check the key and what it may use"},
      {{402, "application/json", R"({"error":{"message":"Insufficient credits"}})"},
       true,
       ErrorKind::config,
       "requires payment (402): Insufficient credits",
       "check the account at the provider"},
      {{408, "", ""}, false, ErrorKind::timeout, "timed out (408)", "try again in a moment"},
      {{413, "text/plain", "length limit exceeded"},
       false,
       ErrorKind::protocol,
       "says that the request is too large (413): length limit exceeded",
       "raise the server's limit on the size of requests"},
      {{404, "application/json", R"({"detail":"Not Found"})"},
       false,
       ErrorKind::config,
       "no such endpoint or model (404): Not Found",
       "check embedder.url (STOKA_EMBED_URL), what server that is, and the model's name"},
      {{405, "", ""}, false, ErrorKind::config, "no such endpoint or model (405)", ""},
      {{429, "", "", 7s}, false, ErrorKind::busy, "too many requests (429)", "try again in 7 s"},
      {{503, "application/json", R"({"error":{"message":"Loading model"}})"},
       false,
       ErrorKind::unavailable,
       "is not ready (503): Loading model",
       "try again in a moment"},
      {{400, "application/json", R"({"message":"too long"})"},
       false,
       ErrorKind::protocol,
       "rejects the request (400): too long",
       url},
      {{422, "text/plain", "bad"},
       false,
       ErrorKind::protocol,
       "rejects the request (422): bad",
       url},
      {{418, "", ""}, false, ErrorKind::protocol, "rejects the request (418)", url},
      {{501, "application/json", R"({"error":{"message":"Start it with --embeddings"}})"},
       false,
       ErrorKind::protocol,
       "does not support this request (501): Start it with --embeddings",
       ""},
      {{500, "", ""}, false, ErrorKind::unavailable, "failed (500)", ""},
      {{502, "", "", 90s}, false, ErrorKind::unavailable, "failed (502)", "try again in 90 s"},
      {{502, "text/html", "<html><h1>Bad Gateway</h1></html>"},
       false,
       ErrorKind::unavailable,
       "failed (502) with an HTML page",
       ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.message);
    UpstreamFixture fixture("http://host:8072");
    if (c.key) fixture.options.key = Secret(kTestKey);
    const Error error = fixture.upstream().status_error(c.answer);
    CHECK(error.kind == c.kind);
    CHECK(error.message == "embedder at http://host:8072: " + c.message);
    if (!c.hint.empty()) CHECK(error.hint == c.hint);
    CHECK_FALSE(error.hint.empty());
    CHECK(error.retry_after == (c.answer.retry_after ? c.answer.retry_after->count() : 0));
  }
}

TEST_CASE("the hint of a failure names the setting that may help") {
  struct Failing final : SynchronousTransport {
    TransferFailure failure;
    std::optional<TransferFailure> perform(const HttpRequest&, BodySink&,
                                           std::stop_token) override {
      return failure;
    }
  } failing;
  const auto timeout = [](FailureCause cause, bool connected, bool answered) {
    return TransferFailure{Error(ErrorKind::timeout, "too late"), connected, answered, cause};
  };
  const auto broken = [](bool connected, bool answered, FailureCause cause = FailureCause::other) {
    return TransferFailure{Error(ErrorKind::unavailable, "broken"), connected, answered, cause};
  };
  const std::string loading = "it may be busy or still loading its model: try again, or raise ";
  const std::string busy = "it may be busy: try again, or raise ";
  const std::string log = "try again; the server's own log may say why";
  struct Case {
    std::string role;
    TransferFailure failure;
    std::string hint;
    std::string url = "http://host";
  };
  const Case cases[] = {
      {"embedder", timeout(FailureCause::connect, false, false),
       "check that it is running, or set embedder.url (STOKA_EMBED_URL), or raise "
       "net.connect_timeout"},
      {"embedder", timeout(FailureCause::total, false, false),
       "check that it is running, or set embedder.url (STOKA_EMBED_URL), or raise embedder.timeout "
       "(STOKA_EMBED_TIMEOUT)"},
      {"embedder", timeout(FailureCause::headers, true, false),
       loading + "embedder.timeout (STOKA_EMBED_TIMEOUT)"},
      {"reranker", timeout(FailureCause::idle, true, true),
       busy + "reranker.timeout (STOKA_RERANK_TIMEOUT)"},
      {"generator", timeout(FailureCause::headers, true, false),
       loading + "generator.headers_timeout (STOKA_GEN_HEADERS_TIMEOUT)"},
      {"generator", timeout(FailureCause::first_token, true, false),
       loading + "generator.first_token_timeout (STOKA_GEN_FIRST_TOKEN_TIMEOUT)"},
      {"generator", timeout(FailureCause::idle, true, true),
       busy + "generator.idle_timeout (STOKA_GEN_IDLE_TIMEOUT)"},
      {"generator", timeout(FailureCause::total, true, true),
       busy + "generator.timeout (STOKA_GEN_TIMEOUT)"},
      {"reranker", broken(false, false, FailureCause::no_host),
       "check the host name in reranker.url (STOKA_RERANK_URL)"},
      {"reranker", broken(false, false), "start it, or set reranker.url (STOKA_RERANK_URL)"},
      {"reranker", broken(true, false), log + "; is it https:// rather than http://?"},
      {"reranker", broken(true, false), log, "https://host"},
      {"reranker", broken(true, true), log},
  };
  for (const Case& c : cases) {
    CAPTURE(c.hint);
    testing::CapturingLog log_lines;
    failing.failure = c.failure;
    UpstreamOptions options{c.role, BaseUrl::parse(c.url, ApiRoot::plain).value(), {}, {}};
    options.settings = testing::setting_names(c.role);
    options.retries = 0;
    Upstream upstream(options, failing, log_lines);
    Call call{.endpoint = "models", .body = ""};
    const auto answer = upstream.call(call, {});
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().hint == c.hint);
    if (c.failure.cause != FailureCause::total || !c.failure.connected) continue;
    call.timeout = 1s;
    call.timeout_setting = "query_timeout";
    CHECK(upstream.call(call, {}).error().hint.find(".query_timeout") != std::string::npos);
    call.timeout_setting = {};
    CHECK(upstream.call(call, {}).error().hint ==
          busy.substr(0, busy.find("or raise")) + "or look at its log");
  }
}

TEST_CASE("a protocol error names the role and the address, and the key is redacted") {
  UpstreamFixture fixture("http://host:8072");
  fixture.options.key = Secret(kTestKey);
  const Error error = fixture.upstream().protocol_error(std::string("says ") + kTestKey);
  CHECK(error.kind == ErrorKind::protocol);
  CHECK(error.message == "embedder at http://host:8072: says ***");
}

TEST_CASE("no error or log line contains the key, whatever the server does") {
  for (const testing::Fault& fault : testing::kFaults) {
    const std::string name = fault.name;
    CAPTURE(name);
    for (const std::string role : {"embedder", "generator"}) {
      testing::FakeOptions options;
      options.dialect = "openai";  // repeats the rejected key
      FakeUpstream server(options);
      const std::string field = name == "refuse_fields" ? R"(,"field":["inputs","stream"])" : "";
      server.queue_behaviour(R"({"fault":")" + name + R"(","times":0,"pause_ms":20)" + field + "}");
      UpstreamFixture fixture(server.url(), role);
      fixture.options.key = Secret(kTestKey);
      fixture.options.retries = 0;
      fixture.options.timeouts = {5s, 30ms, 30ms, 30ms, 30ms};
      CapturingSink sink;
      const auto answer = role == "embedder" ? fixture.embed() : fixture.chat(sink);
      Error error = answer ? fixture.upstream().status_error(*answer) : answer.error();
      CHECK_FALSE(has(error.message + error.hint + fixture.log.text, kTestKey));
      REQUIRE(server.wait_for_requests(1));
      CHECK(server.requests().at(0).authorization == std::string("Bearer ") + kTestKey);
    }
  }
  // The key in its JSON-escaped form.
  UpstreamFixture slashed("http://host:8072");
  slashed.options.key = Secret("sk/a+b\"cdef");
  const std::string spelled = R"("key sk\/a\u002bb\"cdef")";
  for (const std::string& body : {spelled, R"({"error":)" + spelled})  // the second one is cut off
    CHECK(has(slashed.upstream().status_error({401, "application/json", body}).message, "key ***"));
  // An error message that is cut within the key.
  UpstreamFixture fixture("http://host:8072");
  fixture.options.key = Secret(kTestKey);
  for (size_t before = 150; before < 210; ++before) {
    const HttpResponse answer{401, "text/plain", std::string(before, 'x') + kTestKey};
    CHECK_FALSE(has(fixture.upstream().status_error(answer).message, "sk-"));
  }
}

TEST_CASE("the known messages about a too long input are recognised") {
  const struct {
    int status;
    std::string body;
  } cases[] = {
      {422, R"({"error":"`inputs` must have less than 512 tokens. Given: 534","error_type":"V"})"},
      {413, "Failed to buffer the request body: length limit exceeded"},
      {413, ""},
      {400, R"({"error":{"message":"This model's maximum context length is 512 tokens."}})"},
      {400, R"({"error":"the input length exceeds the context length"})"},
      {400, R"({"error":{"message":"the request exceeds the available context size"}})"},
      {500, R"({"error":{"message":"input (596 tokens) is too large to process."}})"},
      {400, R"({"error":{"message":"Input is TOO LONG"}})"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.body);
    CHECK(is_input_too_long({one.status, "", one.body}));
  }
}

TEST_CASE("other error messages are not taken for messages about the length of the input") {
  const struct {
    int status;
    std::string body;
  } cases[] = {
      {422, R"({"error":"batch size 40 > maximum allowed batch size 32"})"},
      {422, R"({"error":"Tokenizer error: invalid input"})"},
      {429, R"({"error":"too many tokens a minute"})"},
      {401, R"({"error":"invalid tokens"})"},
      {500, ""},
      {500, "<html>the length of this page</html>"},
      {200, R"({"message":"too long"})"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.body);
    CHECK_FALSE(is_input_too_long({one.status, "", one.body}));
  }
}

}  // namespace upstream_errors_test
