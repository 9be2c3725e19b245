#include "generate/openai.h"

#include <fmt/format.h>

#include <condition_variable>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>

#include "generate/openai_fixture.h"

namespace {

using namespace stoka;
using namespace stoka::testing;
using Json = nlohmann::json;
using std::chrono::milliseconds;

using Order = std::vector<std::string>;
const std::string kAnswer = "naïve, but 日本 😀 holds. <cite slug=\"a\" quote=\"b\"/> does it?";

std::string quoted(const std::string& text) { return Json(text).dump(); }

std::vector<Json> bodies(const FakeUpstream& fake) {
  std::vector<Json> out;
  for (const SeenRequest& request : fake.seen())
    if (!request.body.empty()) out.push_back(Json::parse(request.body));
  return out;
}

}  // namespace

TEST_CASE("every server's answer is the same") {
  for (const Described& dialect : kDialects)
    for (const char* more : {"", R"(,"reasoning":"hm, a < b")", R"(,"piece":5)",
                             R"(,"reasoning":"hm","think_tags":true)", R"(,"fault":"no_stream")",
                             R"(,"fault":"no_done")", R"(,"fault":"no_blank")"}) {
      CAPTURE(std::string(dialect.name));
      CAPTURE(std::string(more));
      FakeOptions options;
      options.dialect = dialect.name;
      Setup setup(options);
      setup.fake.behave(
          fmt::format(R"({{"path":"/chat/completions","answer":{}{}}})", quoted(kAnswer), more));
      const Told told = setup.asker.ask();
      CHECK(told.end() == "complete");
      CHECK(told.text == kAnswer);
      CHECK(told.order == Order{"accepted", "text"});
    }
}

TEST_CASE("what goes wrong is told, and what was written stands") {
  const Order none, accepted{"accepted"}, both{"accepted", "text"};
  struct Case {
    std::string behaviour;
    std::string end;
    Order order;
    std::string message = {};  // a part of it
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
      {R"("answer":"")", "protocol", accepted, "the model answered nothing"},
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
  net::Client client;
  for (const Case& c : cases) {
    CAPTURE(c.behaviour);
    const bool own_answer = c.behaviour.starts_with("\"answer\"");
    fake.behave(fmt::format(R"({{"path":"/chat/completions",{}{}}})", c.behaviour,
                            own_answer ? "" : ",\"answer\":" + quoted(kAnswer)));
    net::UpstreamOptions options = upstream_options(fake.url());
    if (c.end == "timeout")
      options.deadlines.headers = options.deadlines.first_token = options.deadlines.idle =
          milliseconds(400);
    Asker asker(options, named(), client);
    const Told told = asker.ask();
    CHECK(told.end() == c.end);
    CHECK(told.order == c.order);
    CAPTURE(told.message());
    CHECK(told.message().find(c.message) != std::string::npos);
    if (!told.finish) CHECK(told.message().starts_with("generator at " + fake.url()));
    CHECK(told.text.size() <= (64u << 10));
  }
}

TEST_CASE("characters that a server breaks are mended") {
  Setup setup;
  setup.fake.behave(R"({"answer":"one two three","fault":"lone_surrogate","after":1})");
  CHECK(setup.asker.ask().text == "one \U0001F600\uFFFDtwo three");
  setup.fake.behave(R"({"answer":"one two three","fault":"invalid_utf8","after":1})");
  CHECK(setup.asker.ask().text.starts_with("one caf\uFFFD"));
}

TEST_CASE("a server that is down is told before anything else") {
  std::string url;
  {
    FakeUpstream gone;
    url = gone.url();
  }
  net::Client client;
  Asker asker(upstream_options(url), named(), client);
  const Told told = asker.ask();
  CHECK(told.end() == "unavailable");
  CHECK(told.order.empty());
  CHECK_FALSE(asker.generator.probe({}).has_value());
}

TEST_CASE("fields that the server refuses are left out from then on") {
  Setup setup;
  setup.fake.behave(
      R"({"times":0,"fault":"refuse_fields","answer":"fine.",
          "field":["stream_options","max_tokens","temperature","top_p","stop"]})");
  CHECK(setup.asker.ask().text == "fine.");
  CHECK(setup.asker.ask().order == Order{"accepted", "text"});
  const std::vector<Json> sent = bodies(setup.fake);
  REQUIRE(sent.size() == 7);  // one for each field, and two that were taken
  for (const Json& body : {sent[5], sent[6]}) {
    CHECK(body["max_completion_tokens"] == 280);
    for (const char* field : {"stream_options", "max_tokens", "temperature", "top_p", "stop"})
      CHECK_FALSE(body.contains(field));
  }
  CHECK(setup.asker.log.lines().find("refuses the field stream_options") != std::string::npos);
}

TEST_CASE("a field that the owner wants is not left out") {
  generate::OpenAiOptions options = named();
  options.extra = R"({"top_p":0.1})";
  Setup setup({}, options);
  setup.fake.behave(R"({"times":0,"fault":"refuse_fields","field":"top_p"})");
  const Told told = setup.asker.ask();
  CHECK(told.end() == "protocol");
  CHECK(told.message().find("'top_p' is not supported") != std::string::npos);
  CHECK(told.order.empty());
}

TEST_CASE("keys are refused with a config error that does not repeat them") {
  FakeOptions options;
  options.dialect = "openai";
  options.key = "right";
  Setup setup(options, named(), {}, Secret("sk-wrong-key"));
  const Told told = setup.asker.ask();
  CHECK(told.end() == "config");
  CHECK(told.order.empty());
  CHECK(told.message().find("sk-wrong-key") == std::string::npos);
  CHECK(setup.asker.generator.probe({}).error().kind == ErrorKind::config);

  Setup open({}, named(), {}, Secret("sk-wrong-key"));
  open.fake.behave(R"({"fault":"error_event","message":"bad key sk-wrong-key"})");
  CHECK(open.asker.ask().message().find("bad key ***") != std::string::npos);
}

TEST_CASE("a model that the server does not have is told with those it has") {
  Setup setup({}, named("other"));
  const Told told = setup.asker.ask();
  CHECK(told.end() == "config");
  CHECK(told.order.empty());
  CHECK(told.message() ==
        fmt::format("generator at {}/v1 has no model 'other', but fake-model", setup.fake.url()));
  CHECK(told.finish.error().hint.find("STOKA_GEN_MODEL") != std::string::npos);
}

TEST_CASE("without a model, the server's only one is used") {
  Setup setup({}, named(""));
  CHECK(setup.asker.generator.name() == fmt::format("a model at {}/v1", setup.fake.url()));
  CHECK(setup.asker.ask().end() == "complete");
  CHECK(setup.asker.ask().end() == "complete");
  CHECK(setup.asker.generator.name() == fmt::format("fake-model at {}/v1", setup.fake.url()));
  CHECK(setup.fake.seen().size() == 3);  // the list is asked for once
  CHECK(bodies(setup.fake).back()["model"] == "fake-model");
}

TEST_CASE("without a model, a server with several is a question, one without a list is asked") {
  Setup setup({}, named(""));
  setup.fake.behave(R"({"path":"/models","body":{"data":[{"id":"a"},{"id":"b"}]}})");
  const Told told = setup.asker.ask();
  CHECK(told.end() == "config");
  CHECK(told.message().ends_with("has several models: a, b"));
  setup.fake.behave(R"({"path":"/models","body":{"data":[{"id":"a"},{"id":"b"}]}})");
  CHECK(setup.asker.generator.probe({}).error().message.ends_with("has several models: a, b"));
  {
    generate::OpenAiOptions options = named("");
    options.preferred = "fake-model";
    Setup prefers({}, options);
    prefers.fake.behave(R"({"path":"/models","body":{"data":[{"id":"a"},{"id":"fake-model"}]}})");
    CHECK(prefers.asker.ask().end() == "complete");
    CHECK(bodies(prefers.fake).back()["model"] == "fake-model");
  }
  for (const char* list :
       {R"({"path":"/models","status":404})", R"({"path":"/models","body":{"data":[]}})"}) {
    setup.fake.reset();
    setup.fake.behave(list);
    CHECK(setup.asker.ask().end() == "complete");
    CHECK_FALSE(bodies(setup.fake).back().contains("model"));
  }
  setup.fake.behave(R"({"path":"/models","body":"<html>"})");
  CHECK(setup.asker.ask().end() == "protocol");
}

TEST_CASE("a probe says what the server has") {
  Setup setup({}, named("other"));
  const auto refused = setup.asker.generator.probe({});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == ErrorKind::config);
  CHECK(refused.error().message.ends_with("has no model 'other', but fake-model"));
  // Some take names that they do not list.
  setup.fake.behave(R"({"path":"/chat/completions","model":"other"})");
  const auto taken = setup.asker.generator.probe({});
  REQUIRE(taken.has_value());
  CHECK(taken->model == "other");
  CHECK(taken->models == std::vector<std::string>{"fake-model"});
  Setup unnamed({}, named(""));
  CHECK(unnamed.asker.generator.probe({})->model == "fake-model");
}

TEST_CASE("a prompt that was not read whole is a warning") {
  Setup setup;
  const std::string query(4000, 'x');
  setup.fake.behave(R"({"prompt_tokens":100,"answer":"fine."})");
  CHECK(setup.asker.ask(query).end() == "complete");
  CHECK(setup.asker.log.lines().find("warning: the server read 100 of about ") !=
        std::string::npos);
  Setup whole;
  CHECK(whole.asker.ask().end() == "complete");
  CHECK(whole.asker.log.lines().empty());
}

TEST_CASE("a stop amid the answer is seen by the server") {
  Setup setup;
  setup.fake.behave(R"({"fault":"endless","token_delay_ms":5})");
  std::stop_source stop;
  const Told told = setup.asker.ask("why?", stop.get_token(), [&] { stop.request_stop(); });
  CHECK(told.end() == "cancelled");
  CHECK(told.order == Order{"accepted", "text"});
  REQUIRE(setup.fake.wait_for(1));
  CHECK(setup.fake.seen().front().left_after.has_value());
}

TEST_CASE("a server that says nothing after the end does not hold up the answer") {
  // Says all but [DONE], and waits.
  struct Silent final : net::Transport {
    std::optional<net::Failure> perform(const net::Request&, net::Listener& listener,
                                        std::stop_token stop) override {
      CHECK(listener.head({200, "text/event-stream", {}}).has_value());
      CHECK(listener
                .body("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},"
                      "\"finish_reason\":\"stop\"}]}\n\n")
                .has_value());
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      never.wait(lock, stop, [] { return false; });
      return net::Failure{Error(ErrorKind::cancelled, "stopped"), true, true};
    }
  } silent;
  Asker asker(upstream_options("localhost"), named(), silent);
  const Told told = asker.ask();
  CHECK(told.end() == "complete");
  CHECK(told.text == "a");
}
