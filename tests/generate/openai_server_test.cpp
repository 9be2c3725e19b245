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
  for (const SeenRequest& request : fake.requests())
    if (!request.body.empty()) out.push_back(Json::parse(request.body));
  return out;
}

}  // namespace

TEST_CASE("fields that the server rejects are left out from then on") {
  GeneratorFixture fixture;
  fixture.fake.queue_behaviour(
      R"({"times":0,"fault":"refuse_fields","answer":"fine.",
          "field":["max_tokens","temperature","top_p","stop"]})");
  CHECK(fixture.harness.ask().text == "fine.");
  CHECK(fixture.harness.ask().order == Order{"accepted", "text"});
  const std::vector<Json> sent = bodies(fixture.fake);
  // One for max_tokens, one for the first sampling field, and two that were accepted.
  REQUIRE(sent.size() == 4);
  for (const Json& body : {sent[2], sent[3]}) {
    CHECK(body["max_completion_tokens"] == 280);
    for (const char* field : {"max_tokens", "temperature", "top_p", "stop"})
      CHECK_FALSE(body.contains(field));
    CHECK(body.contains("stream_options"));
  }
  CHECK(fixture.harness.log.lines().find("rejects the field max_tokens") != std::string::npos);
}

TEST_CASE("a field from generator.extra is not left out") {
  generate::OpenAiOptions options = options_for();
  options.extra = R"({"top_p":0.1})";
  GeneratorFixture fixture({}, options);
  fixture.fake.queue_behaviour(R"({"times":0,"fault":"refuse_fields","field":"top_p"})");
  const Outcome outcome = fixture.harness.ask();
  CHECK(outcome.end() == "protocol");
  CHECK(outcome.message().find("'top_p' is not supported") != std::string::npos);
  CHECK(outcome.order.empty());
}

TEST_CASE("an error body that repeats the whole request removes no field") {
  GeneratorFixture fixture;
  fixture.fake.queue_behaviour(
      R"({"status":422,"body":{"detail":[{"type":"value_error","loc":["body","messages",1,"content"],
          "msg":"Value error, unknown word","input":{"model":"fake-model","max_tokens":280,
          "temperature":0.5,"stop":["x"],"stream_options":{}}}]}})");
  CHECK(fixture.harness.ask().end() == "protocol");
  CHECK(fixture.harness.ask().end() == "complete");
  const std::vector<Json> sent = bodies(fixture.fake);
  REQUIRE(sent.size() == 2);
  CHECK(sent[0] == sent[1]);
}

TEST_CASE("a field is left out for good only once the server has accepted a request without it") {
  GeneratorFixture fixture;
  fixture.fake.queue_behaviour(R"({"fault":"refuse_fields","field":"max_tokens"})");
  fixture.fake.queue_behaviour(R"({"status":503})");
  CHECK(fixture.harness.ask().end() == "unavailable");
  CHECK(fixture.harness.ask().end() == "complete");
  CHECK(bodies(fixture.fake).back().contains("max_tokens"));
}

TEST_CASE("a server that rejects one field after the other gets at most three requests") {
  GeneratorFixture fixture;
  fixture.fake.queue_behaviour(
      R"({"times":0,"fault":"refuse_fields",
          "field":["stream_options","max_tokens","max_completion_tokens","stop"]})");
  const Outcome outcome = fixture.harness.ask();
  CHECK(outcome.end() == "protocol");
  CHECK(outcome.message().find("'max_completion_tokens' is not supported") != std::string::npos);
  CHECK(fixture.fake.requests().size() == 3);
}

TEST_CASE("one deadline covers all requests of an answer") {
  net::Timeouts deadlines;
  deadlines.total = milliseconds(1200);
  GeneratorFixture fixture({}, options_for(""), deadlines);
  fixture.fake.queue_behaviour(R"({"path":"/models","delay_ms":400})");
  fixture.fake.queue_behaviour(
      R"({"path":"/chat/completions","delay_ms":400,"fault":"refuse_fields","field":"stop"})");
  fixture.fake.queue_behaviour(R"({"path":"/chat/completions","delay_ms":900})");
  CHECK(fixture.harness.ask().end() == "timeout");
  CHECK(fixture.fake.requests().size() == 3);

  // It also covers the request for the list that explains an error.
  deadlines.total = milliseconds(600);
  GeneratorFixture other({}, options_for("other"), deadlines);
  other.fake.queue_behaviour(R"({"path":"/models","delay_ms":60000})");
  const Outcome outcome = other.harness.ask();
  CHECK(outcome.end() == "config");
  REQUIRE(other.fake.wait_for_requests(2));
  CHECK(other.fake.requests().back().disconnected_after.has_value());
}

TEST_CASE("the error for a missing model names the models that the server has") {
  GeneratorFixture fixture({}, options_for("other"));
  const Outcome outcome = fixture.harness.ask();
  CHECK(outcome.end() == "config");
  CHECK(outcome.order.empty());
  CHECK(outcome.message() ==
        fmt::format("generator at {}/v1 has no model 'other'; it has fake-model",
                    fixture.fake.url()));
  CHECK(outcome.finish.error().hint.find("STOKA_GEN_MODEL") != std::string::npos);
}

TEST_CASE("without a configured model, the server's only one is used") {
  GeneratorFixture fixture({}, options_for(""));
  CHECK(fixture.harness.generator.name() == fmt::format("a model at {}/v1", fixture.fake.url()));
  CHECK(fixture.harness.ask().end() == "complete");
  CHECK(fixture.harness.ask().end() == "complete");
  CHECK(fixture.harness.generator.name() == fmt::format("fake-model at {}/v1", fixture.fake.url()));
  CHECK(fixture.fake.requests().size() == 3);  // the list was requested only once
  CHECK(bodies(fixture.fake).back()["model"] == "fake-model");
}

TEST_CASE(
    "several models without a configured one give an error, and a server without a list is used") {
  GeneratorFixture fixture({}, options_for(""));
  fixture.fake.queue_behaviour(R"({"path":"/models","body":{"data":[{"id":"a"},{"id":"b"}]}})");
  const Outcome outcome = fixture.harness.ask();
  CHECK(outcome.end() == "config");
  CHECK(outcome.message().ends_with("has several models: a, b"));
  fixture.fake.queue_behaviour(R"({"path":"/models","body":{"data":[{"id":"a"},{"id":"b"}]}})");
  CHECK(fixture.harness.generator.probe({}).error().message.ends_with("has several models: a, b"));
  {
    generate::OpenAiOptions options = options_for("");
    options.preferred_model = "fake-model";
    GeneratorFixture prefers({}, options);
    prefers.fake.queue_behaviour(
        R"({"path":"/models","body":{"data":[{"id":"a"},{"id":"fake-model"}]}})");
    CHECK(prefers.harness.ask().end() == "complete");
    CHECK(bodies(prefers.fake).back()["model"] == "fake-model");
  }
  for (const char* list :
       {R"({"path":"/models","body":{"data":[]}})", R"({"path":"/models","status":404})"}) {
    fixture.fake.reset();
    fixture.fake.queue_behaviour(list);
    CHECK(fixture.harness.ask().end() == "complete");
    CHECK_FALSE(bodies(fixture.fake).back().contains("model"));
  }
  GeneratorFixture nonsense({}, options_for(""));
  nonsense.fake.queue_behaviour(R"({"path":"/models","body":"<html>"})");
  CHECK(nonsense.harness.ask().end() == "protocol");
}

TEST_CASE("a server without a list of models is asked for it only once") {
  GeneratorFixture fixture({}, options_for(""));
  fixture.fake.queue_behaviour(R"({"path":"/models","times":0,"status":404})");
  CHECK(fixture.harness.ask().end() == "complete");
  CHECK(fixture.harness.ask().end() == "complete");
  CHECK(fixture.fake.requests().size() == 3);
}

TEST_CASE("checking the model requests one token") {
  GeneratorFixture fixture({}, options_for("other"));
  const auto refused = fixture.harness.generator.probe({});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == ErrorKind::config);
  CHECK(refused.error().message.ends_with("has no model 'other'; it has fake-model"));
  // Some servers accept models that they do not list.
  fixture.fake.queue_behaviour(R"({"path":"/chat/completions","model":"other"})");
  const auto taken = fixture.harness.generator.probe({});
  REQUIRE(taken.has_value());
  CHECK(*taken == "other");
  const Json word = bodies(fixture.fake).back();
  CHECK(word["max_tokens"] == 1);
  CHECK(word["stream"] == false);
  GeneratorFixture unnamed({}, options_for(""));
  CHECK(unnamed.harness.generator.probe({}) == "fake-model");
  // It is not enough that the model is listed.
  const std::pair<const char*, ErrorKind> failures[] = {
      {R"({"path":"/chat/completions","status":500})", ErrorKind::unavailable},
      {R"({"path":"/chat/completions","fault":"html"})", ErrorKind::protocol},
      {R"({"path":"/chat/completions","body":{"error":"out of memory"}})", ErrorKind::protocol},
  };
  for (const auto& [behaviour, kind] : failures) {
    CAPTURE(std::string(behaviour));
    unnamed.fake.queue_behaviour(behaviour);
    const auto probe = unnamed.harness.generator.probe({});
    REQUIRE_FALSE(probe.has_value());
    CHECK(probe.error().kind == kind);
  }
  // A reasoning model has written no text by then.
  unnamed.fake.queue_behaviour(
      R"({"path":"/chat/completions","status":400,
          "message":"Could not finish the message because max_tokens or model output limit was reached."})");
  CHECK(unnamed.harness.generator.probe({}).has_value());
}

TEST_CASE(
    "the request that checks the model has no subject, so that no recorded answer is replayed for "
    "it") {
  struct Kept final : net::SynchronousTransport {
    net::HttpClient client;
    std::vector<std::string> subjects;
    std::optional<net::TransferFailure> perform(const net::HttpRequest& request,
                                                net::BodySink& listener,
                                                std::stop_token stop) override {
      subjects.push_back(request.subject);
      return client.perform(request, listener, stop);
    }
  } kept;
  FakeUpstream fake;
  GeneratorHarness harness(upstream_options(fake.url()), options_for(), kept);
  CHECK(harness.generator.probe({}).has_value());
  CHECK(kept.subjects == std::vector<std::string>{""});
}

}  // namespace openai_server_test
