#include "generate/openai_generator.h"

#include <fmt/format.h>

#include <stop_token>

#include "generate/openai_fixture.h"
#include "net/recording.h"
#include "support/json.h"
#include "support/temp_folder.h"

namespace openai_generator_test {

namespace {

using namespace stoka;
using namespace stoka::testing;
using Json = nlohmann::json;
using std::chrono::milliseconds;

using Order = std::vector<std::string>;
const std::string kAnswer = "naïve, but 日本 😀 holds. <cite slug=\"a\" quote=\"b\"/> does it?";

std::string quoted(const std::string& text) { return Json(text).dump(); }

}  // namespace

TEST_CASE("the answer is the same from every dialect of server") {
  for (const NamedDescription& dialect : kDialects)
    for (const char* more : {"", R"(,"reasoning":"hm, a < b")", R"(,"piece":5)",
                             R"(,"reasoning":"hm","think_tags":true)", R"(,"fault":"no_stream")",
                             R"(,"fault":"no_done")", R"(,"fault":"no_blank")"}) {
      CAPTURE(std::string(dialect.name));
      CAPTURE(std::string(more));
      FakeOptions options;
      options.dialect = dialect.name;
      GeneratorFixture fixture(options);
      fixture.fake.queue_behaviour(
          fmt::format(R"({{"path":"/chat/completions","answer":{}{}}})", quoted(kAnswer), more));
      const Outcome outcome = fixture.harness.ask();
      CHECK(outcome.end() == "complete");
      CHECK(outcome.text == kAnswer);
      CHECK(outcome.order == Order{"accepted", "text"});
    }
}

TEST_CASE("a failure is reported, and the text received before it is kept") {
  const Order none, accepted{"accepted"}, both{"accepted", "text"};
  struct Case {
    std::string behaviour;
    std::string end;
    Order order;
    std::string message = {};  // a part of the message
  };
  const Case cases[] = {
      {R"("fault":"hang")", "timeout", none},
      {R"("fault":"close")", "unavailable", none},
      {R"("fault":"html")", "protocol", none, "text/html"},
      {R"("fault":"hang_mid")", "timeout", both},
      {R"("fault":"endless_pings")", "timeout", accepted},
      {R"("fault":"cut")", "unavailable", both},
      {R"("fault":"cut_in_tag")", "unavailable", both},
      {R"("fault":"reset","after":2)", "unavailable", both},
      {R"("fault":"error_event","after":0)", "unavailable", accepted, "the model has failed"},
      {R"("fault":"error_event")", "unavailable", both, "the model has failed"},
      {R"("fault":"error_event","dialect":"llamacpp")", "unavailable", both, "has failed"},
      {R"("fault":"error_event","dialect":"lmstudio")", "unavailable", both, "has failed"},
      {R"("fault":"error_event","dialect":"openai")", "unavailable", both, "has failed"},
      {R"("fault":"error_event","dialect":"openrouter")", "unavailable", both, "has failed"},
      {R"("fault":"error_event","dialect":"ollama")", "truncated", both},
      {R"("fault":"error_event","dialect":"ollama","after":0)", "protocol", accepted, "broke off"},
      {R"("fault":"empty")", "protocol", accepted, "broke off"},
      {R"("fault":"no_finish")", "truncated", both},
      {R"("fault":"long_line")", "protocol", both},
      {R"("fault":"truncated_json")", "protocol", both, "no JSON"},
      {R"("fault":"endless")", "length", both},
      {R"("fault":"endless_thinking")", "config", accepted, "bytes without answering"},
      {R"("answer":"","reasoning":"hm","finish":"length")", "config", accepted, "thinking"},
      {R"("answer":"")", "protocol", accepted, "the model wrote no answer"},
      {R"("answer":"","finish":"tool_calls")", "protocol", accepted, "a tool"},
      {R"("finish":"content_filter")", "protocol", both, "content filter"},
      {R"("finish":"length")", "length", both},
      {R"("finish":"unload")", "complete", both},
      {R"("fault":"invalid_utf8")", "complete", both},
      {R"("fault":"lone_surrogate")", "complete", both},
      {R"("status":500)", "unavailable", none, "something went wrong"},
      {R"("status":429)", "busy", none, "Rate limit"},
      {R"("status":503)", "unavailable", none},
      {R"("status":400,"message":"maximum context length is 512 tokens, max_tokens is 280")",
       "protocol", none, "maximum context length"},
  };
  FakeUpstream fake;
  net::HttpClient client;
  for (const Case& c : cases) {
    CAPTURE(c.behaviour);
    const bool own_answer = c.behaviour.starts_with("\"answer\"");
    fake.queue_behaviour(fmt::format(R"({{"path":"/chat/completions",{}{}}})", c.behaviour,
                                     own_answer ? "" : ",\"answer\":" + quoted(kAnswer)));
    net::UpstreamOptions options = upstream_options(fake.url());
    if (c.end == "timeout")
      options.timeouts.headers = options.timeouts.first_token = options.timeouts.idle =
          milliseconds(400);
    GeneratorHarness harness(options, options_for(), client);
    const Outcome outcome = harness.ask();
    CHECK(outcome.end() == c.end);
    CHECK(outcome.order == c.order);
    CAPTURE(outcome.message());
    CHECK(outcome.message().find(c.message) != std::string::npos);
    if (!outcome.finish) {
      CHECK(outcome.message().starts_with("generator at " + fake.url()));
      CHECK_FALSE(outcome.finish.error().hint.empty());
    }
    CHECK(outcome.text.size() <= (64u << 10));
  }
}

TEST_CASE("broken characters from a server are repaired") {
  GeneratorFixture fixture;
  fixture.fake.queue_behaviour(R"({"answer":"one two three","fault":"lone_surrogate","after":1})");
  CHECK(fixture.harness.ask().text == "one \U0001F600\uFFFDtwo three");
  fixture.fake.queue_behaviour(R"({"answer":"one two three","fault":"invalid_utf8","after":1})");
  CHECK(fixture.harness.ask().text.starts_with("one caf\uFFFD"));
}

TEST_CASE("if the server is down, the result is an error, and no request counts as accepted") {
  std::string url;
  {
    FakeUpstream gone;
    url = gone.url();
  }
  net::HttpClient client;
  GeneratorHarness harness(upstream_options(url), options_for(), client);
  const Outcome outcome = harness.ask();
  CHECK(outcome.end() == "unavailable");
  CHECK(outcome.order.empty());
  CHECK_FALSE(harness.generator.probe({}).has_value());
}

TEST_CASE("a rejected key gives a config error that does not repeat the key") {
  FakeOptions options;
  options.dialect = "openai";
  options.key = "right";
  GeneratorFixture fixture(options, options_for(), {}, Secret("sk-wrong-key"));
  const Outcome outcome = fixture.harness.ask();
  CHECK(outcome.end() == "config");
  CHECK(outcome.order.empty());
  CHECK(outcome.message().find("sk-wrong-key") == std::string::npos);
  CHECK(fixture.harness.generator.probe({}).error().kind == ErrorKind::config);

  GeneratorFixture open({}, options_for(), {}, Secret("sk-wrong-key"));
  open.fake.queue_behaviour(R"({"fault":"error_event","message":"bad key sk-wrong-key"})");
  CHECK(open.harness.ask().message().find("bad key ***") != std::string::npos);
}

TEST_CASE("no part of a key is left where a message is cut") {
  const std::string key = "sk-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO";
  GeneratorFixture fixture({}, options_for(), {}, Secret(key));
  for (size_t before = 130; before < 210; before += 7)
    for (const std::string kind : {"error_event", "status", "text"}) {
      CAPTURE(before);
      CAPTURE(kind);
      const std::string words = std::string(before, 'x') + " " + key + " and more";
      const std::string message = quoted(words);
      if (kind == "error_event")
        fixture.fake.queue_behaviour(
            fmt::format(R"({{"fault":"error_event","message":{}}})", message));
      if (kind == "status")
        fixture.fake.queue_behaviour(fmt::format(R"({{"status":500,"message":{}}})", message));
      if (kind == "text")
        fixture.fake.queue_behaviour(fmt::format(R"({{"body":{}}})", quoted("no JSON: " + words)));
      const Outcome outcome = fixture.harness.ask();
      CHECK(outcome.message().find("xxx") != std::string::npos);
      CHECK(outcome.message().find("sk-") == std::string::npos);
    }
}

TEST_CASE("a prompt that the server has cut gives a warning") {
  GeneratorFixture fixture;
  const std::string query(4000, 'x');
  fixture.fake.queue_behaviour(R"({"times":2,"prompt_tokens":100,"answer":"fine."})");
  CHECK(fixture.harness.ask(query).end() == "complete");
  const std::string outcome = fixture.harness.log.lines();
  CHECK(outcome.find("warning: the server read 100 of about ") != std::string::npos);
  CHECK(fixture.harness.ask(query).end() == "complete");
  CHECK(fixture.harness.log.lines() == outcome);  // logged only once
  GeneratorFixture whole;
  CHECK(whole.harness.ask().end() == "complete");
  CHECK(whole.harness.log.lines().empty());
}

TEST_CASE("a stop request within the answer closes the connection") {
  GeneratorFixture fixture;
  fixture.fake.queue_behaviour(R"({"fault":"endless","token_delay_ms":5})");
  std::stop_source stop;
  const Outcome outcome =
      fixture.harness.ask("why?", stop.get_token(), [&] { stop.request_stop(); });
  CHECK(outcome.end() == "cancelled");
  CHECK(outcome.order == Order{"accepted", "text"});
  REQUIRE(fixture.fake.wait_for_requests(1));
  CHECK(fixture.fake.requests().front().disconnected_after.has_value());
}

TEST_CASE("a server that does not end its response does not delay the answer, which is recorded") {
  const TempFolder folder;
  FakeUpstream fake;
  fake.queue_behaviour(R"({"answer":"fine.","fault":"hang_mid","after":100})");
  net::HttpClient client;
  {
    const auto recorder = net::RecordingTransport::create(folder / "r.jsonl", client);
    REQUIRE(recorder.has_value());
    GeneratorHarness harness(upstream_options(fake.url()), options_for(), **recorder);
    const Outcome outcome = harness.ask();
    CHECK(outcome.end() == "complete");
    CHECK(outcome.text == "fine.");
  }
  REQUIRE(fake.wait_for_requests(1));
  CHECK(fake.requests().front().disconnected_after.has_value());
  NullLog log;
  const auto replay = net::ReplayTransport::open(folder / "r.jsonl", log);
  REQUIRE(replay.has_value());
  GeneratorHarness harness(upstream_options(fake.url()), options_for(), **replay);
  CHECK(harness.ask().text == "fine.");
}

TEST_CASE("the connection is reused for the next answer") {
  for (const NamedDescription& dialect : kDialects) {
    CAPTURE(std::string(dialect.name));
    FakeOptions options;
    options.dialect = dialect.name;
    GeneratorFixture fixture(options);
    for (int i = 0; i < 5; ++i) CHECK(fixture.harness.ask().end() == "complete");
    CHECK(fixture.fake.connections() == 1);
  }
}

}  // namespace openai_generator_test
