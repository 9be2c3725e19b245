// What a generator learns about its server.
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <stop_token>

#include "generate/openai_fixture.h"
#include "support/json.h"

namespace openai_server_test {

namespace {

using namespace stoka;
using namespace stoka::testing;
using Json = nlohmann::json;
using std::chrono::milliseconds;

using Order = std::vector<std::string>;

std::vector<Json> bodies(const FakeUpstream& fake) {
  std::vector<Json> out;
  for (const SeenRequest& request : fake.seen())
    if (!request.body.empty()) out.push_back(Json::parse(request.body));
  return out;
}

}  // namespace

TEST_CASE("fields that the server rejects are left out from then on") {
  Setup setup;
  setup.fake.behave(
      R"({"times":0,"fault":"refuse_fields","answer":"fine.",
          "field":["max_tokens","temperature","top_p","stop"]})");
  CHECK(setup.asker.ask().text == "fine.");
  CHECK(setup.asker.ask().order == Order{"accepted", "text"});
  const std::vector<Json> sent = bodies(setup.fake);
  // One for max_tokens, one for the first sampling field, and two that were accepted.
  REQUIRE(sent.size() == 4);
  for (const Json& body : {sent[2], sent[3]}) {
    CHECK(body["max_completion_tokens"] == 280);
    for (const char* field : {"max_tokens", "temperature", "top_p", "stop"})
      CHECK_FALSE(body.contains(field));
    CHECK(body.contains("stream_options"));
  }
  CHECK(setup.asker.log.lines().find("refuses the field max_tokens") != std::string::npos);
}

TEST_CASE("a field from generator.extra is not left out") {
  generate::OpenAiOptions options = named();
  options.extra = R"({"top_p":0.1})";
  Setup setup({}, options);
  setup.fake.behave(R"({"times":0,"fault":"refuse_fields","field":"top_p"})");
  const Told told = setup.asker.ask();
  CHECK(told.end() == "protocol");
  CHECK(told.message().find("'top_p' is not supported") != std::string::npos);
  CHECK(told.order.empty());
}

TEST_CASE("an error body that repeats the whole request removes no field") {
  Setup setup;
  setup.fake.behave(
      R"({"status":422,"body":{"detail":[{"type":"value_error","loc":["body","messages",1,"content"],
          "msg":"Value error, unknown word","input":{"model":"fake-model","max_tokens":280,
          "temperature":0.5,"stop":["x"],"stream_options":{}}}]}})");
  CHECK(setup.asker.ask().end() == "protocol");
  CHECK(setup.asker.ask().end() == "complete");
  const std::vector<Json> sent = bodies(setup.fake);
  REQUIRE(sent.size() == 2);
  CHECK(sent[0] == sent[1]);
}

TEST_CASE("a field is left out for good only once the server has accepted a request without it") {
  Setup setup;
  setup.fake.behave(R"({"fault":"refuse_fields","field":"max_tokens"})");
  setup.fake.behave(R"({"status":503})");
  CHECK(setup.asker.ask().end() == "unavailable");
  CHECK(setup.asker.ask().end() == "complete");
  CHECK(bodies(setup.fake).back().contains("max_tokens"));
}

TEST_CASE("a server that rejects one field after the other gets at most three requests") {
  Setup setup;
  setup.fake.behave(
      R"({"times":0,"fault":"refuse_fields",
          "field":["stream_options","max_tokens","max_completion_tokens","stop"]})");
  const Told told = setup.asker.ask();
  CHECK(told.end() == "protocol");
  CHECK(told.message().find("'max_completion_tokens' is not supported") != std::string::npos);
  CHECK(setup.fake.seen().size() == 3);
}

TEST_CASE("one deadline covers all requests of an answer") {
  net::Deadlines deadlines;
  deadlines.total = milliseconds(1200);
  Setup setup({}, named(""), deadlines);
  setup.fake.behave(R"({"path":"/models","delay_ms":400})");
  setup.fake.behave(
      R"({"path":"/chat/completions","delay_ms":400,"fault":"refuse_fields","field":"stop"})");
  setup.fake.behave(R"({"path":"/chat/completions","delay_ms":900})");
  CHECK(setup.asker.ask().end() == "timeout");
  CHECK(setup.fake.seen().size() == 3);

  // It also covers the request for the list that explains an error.
  deadlines.total = milliseconds(600);
  Setup other({}, named("other"), deadlines);
  other.fake.behave(R"({"path":"/models","delay_ms":60000})");
  const Told told = other.asker.ask();
  CHECK(told.end() == "config");
  REQUIRE(other.fake.wait_for(2));
  CHECK(other.fake.seen().back().left_after.has_value());
}

TEST_CASE("the error for a missing model names the models that the server has") {
  Setup setup({}, named("other"));
  const Told told = setup.asker.ask();
  CHECK(told.end() == "config");
  CHECK(told.order.empty());
  CHECK(told.message() ==
        fmt::format("generator at {}/v1 has no model 'other', but fake-model", setup.fake.url()));
  CHECK(told.finish.error().hint.find("STOKA_GEN_MODEL") != std::string::npos);
}

TEST_CASE("without a configured model, the server's only one is used") {
  Setup setup({}, named(""));
  CHECK(setup.asker.generator.name() == fmt::format("a model at {}/v1", setup.fake.url()));
  CHECK(setup.asker.ask().end() == "complete");
  CHECK(setup.asker.ask().end() == "complete");
  CHECK(setup.asker.generator.name() == fmt::format("fake-model at {}/v1", setup.fake.url()));
  CHECK(setup.fake.seen().size() == 3);  // the list was requested only once
  CHECK(bodies(setup.fake).back()["model"] == "fake-model");
}

TEST_CASE("several models without a configured one are an error, and a server without a list is used") {
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
       {R"({"path":"/models","body":{"data":[]}})", R"({"path":"/models","status":404})"}) {
    setup.fake.reset();
    setup.fake.behave(list);
    CHECK(setup.asker.ask().end() == "complete");
    CHECK_FALSE(bodies(setup.fake).back().contains("model"));
  }
  Setup nonsense({}, named(""));
  nonsense.fake.behave(R"({"path":"/models","body":"<html>"})");
  CHECK(nonsense.asker.ask().end() == "protocol");
}

TEST_CASE("a server without a list of models is asked for it only once") {
  Setup setup({}, named(""));
  setup.fake.behave(R"({"path":"/models","times":0,"status":404})");
  CHECK(setup.asker.ask().end() == "complete");
  CHECK(setup.asker.ask().end() == "complete");
  CHECK(setup.fake.seen().size() == 3);
}

TEST_CASE("a probe asks for one token") {
  Setup setup({}, named("other"));
  const auto refused = setup.asker.generator.probe({});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == ErrorKind::config);
  CHECK(refused.error().message.ends_with("has no model 'other', but fake-model"));
  // Some servers accept models that they do not list.
  setup.fake.behave(R"({"path":"/chat/completions","model":"other"})");
  const auto taken = setup.asker.generator.probe({});
  REQUIRE(taken.has_value());
  CHECK(taken->model == "other");
  const Json word = bodies(setup.fake).back();
  CHECK(word["max_tokens"] == 1);
  CHECK(word["stream"] == false);
  Setup unnamed({}, named(""));
  CHECK(unnamed.asker.generator.probe({})->model == "fake-model");
  // It is not enough that the model is listed.
  const std::pair<const char*, ErrorKind> failures[] = {
      {R"({"path":"/chat/completions","status":500})", ErrorKind::unavailable},
      {R"({"path":"/chat/completions","fault":"html"})", ErrorKind::protocol},
      {R"({"path":"/chat/completions","body":{"error":"out of memory"}})", ErrorKind::protocol},
  };
  for (const auto& [behaviour, kind] : failures) {
    CAPTURE(std::string(behaviour));
    unnamed.fake.behave(behaviour);
    const auto probe = unnamed.asker.generator.probe({});
    REQUIRE_FALSE(probe.has_value());
    CHECK(probe.error().kind == kind);
  }
  // A reasoning model has written no text by then.
  unnamed.fake.behave(
      R"({"path":"/chat/completions","status":400,
          "message":"Could not finish the message because max_tokens or model output limit was reached."})");
  CHECK(unnamed.asker.generator.probe({}).has_value());
}

TEST_CASE("a probe has no subject, so that no recorded answer is replayed for it") {
  struct Kept final : net::Immediate {
    net::Client client;
    std::vector<std::string> subjects;
    std::optional<net::Failure> perform(const net::Request& request, net::Listener& listener,
                                        std::stop_token stop) override {
      subjects.push_back(request.subject);
      return client.perform(request, listener, stop);
    }
  } kept;
  FakeUpstream fake;
  Asker asker(upstream_options(fake.url()), named(), kept);
  CHECK(asker.generator.probe({}).has_value());
  CHECK(kept.subjects == std::vector<std::string>{""});
}

}  // namespace openai_server_test
