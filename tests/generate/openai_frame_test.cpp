#include <fmt/format.h>

#include <stop_token>

#include "generate/openai_fixture.h"
#include "support/json.h"

namespace openai_frame_test {

namespace {

using namespace stoka;
using namespace stoka::testing;
using Json = nlohmann::json;
using Lines = std::vector<std::optional<std::string>>;

const Lines kNone(2);

std::vector<Hit> hits() {
  std::vector<Hit> out(2);
  out[0].chunk.slug = "first";
  out[0].chunk.title = "first title";
  out[0].chunk.content = "content one.";
  out[1].chunk.slug = "second";
  out[1].chunk.title = "second title";
  out[1].chunk.content = "content two.";
  return out;
}

std::vector<std::string> paths(const FakeUpstream& fake) {
  std::vector<std::string> out;
  for (const SeenRequest& request : fake.requests()) out.push_back(request.path);
  return out;
}

}  // namespace

TEST_CASE("one completion request returns the lines of all hits") {
  GeneratorFixture fixture;
  fixture.fake.queue_behaviour(R"({"path":"/v1/completions","answer":["one.\nmore","\"two!\""]})");
  CHECK(fixture.harness.generator.frame(hits(), {}) == Lines{"one.", "two."});
  CHECK(paths(fixture.fake) == std::vector<std::string>{"/v1/completions"});
  const Json body = Json::parse(fixture.fake.requests().front().body);
  CHECK(body["prompt"].size() == 2);
  CHECK(body["prompt"][1].get<std::string>().find("second title") != std::string::npos);
  CHECK(body["max_tokens"] == 40);
}

TEST_CASE(
    "a server that accepts one prompt only gets one chat request for all lines from then on") {
  struct Case {
    const char* dialect;
    const char* refusal;
  };
  for (const Case& c :
       {Case{"ollama", ""}, Case{"vllm", R"({"path":"/v1/completions","status":404})"},
        Case{"vllm", R"({"path":"/v1/completions","fault":"wrong_count"})"},
        Case{"vllm", R"({"path":"/v1/completions","fault":"duplicate_index"})"},
        Case{"vllm", R"({"path":"/v1/completions","fault":"html"})"}}) {
    CAPTURE(std::string(c.dialect));
    CAPTURE(std::string(c.refusal));
    FakeOptions options;
    options.dialect = c.dialect;
    GeneratorFixture fixture(options);
    if (*c.refusal != '\0') fixture.fake.queue_behaviour(c.refusal);
    fixture.fake.queue_behaviour(
        R"({"path":"/chat/completions","times":0,"reasoning":"hm","answer":"1. one.\n2. two."})");
    CHECK(fixture.harness.generator.frame(hits(), {}) == Lines{"one.", "two."});
    CHECK(fixture.harness.generator.frame(hits(), {}) == Lines{"one.", "two."});
    CHECK(paths(fixture.fake) == std::vector<std::string>{"/v1/completions", "/v1/chat/completions",
                                                          "/v1/chat/completions"});
    CHECK(Json::parse(fixture.fake.requests().back().body)["max_tokens"] == 80);
  }
}

TEST_CASE("after a single 500 the completions endpoint is used again") {
  GeneratorFixture fixture;
  fixture.fake.queue_behaviour(R"({"path":"/v1/completions","status":500})");
  fixture.fake.queue_behaviour(R"({"path":"/chat/completions","answer":"1. one.\n2. two."})");
  CHECK(fixture.harness.generator.frame(hits(), {}) == Lines{"one.", "two."});
  fixture.fake.queue_behaviour(R"({"path":"/v1/completions","answer":["three.","four."]})");
  CHECK(fixture.harness.generator.frame(hits(), {}) == Lines{"three.", "four."});
  CHECK(paths(fixture.fake).size() == 3);
}

TEST_CASE("reasoning is not used as a line") {
  const std::string thought =
      R"(1. first, i read about X\n2. the second is Y, hm\n</think>\n\n1. one.\n2. two.)";
  GeneratorFixture fixture;
  fixture.fake.queue_behaviour(R"({"path":"/v1/completions","times":0,"status":404})");
  fixture.fake.queue_behaviour(
      fmt::format(R"({{"path":"/chat/completions","answer":"{}"}})", thought));
  CHECK(fixture.harness.generator.frame(hits(), {}) == Lines{"one.", "two."});
  // If the server streams anyway, reasoning cannot be outcome from the lines.
  const Json delta = {{"choices",
                       {{{"delta", {{"content", Json::parse("\"" + thought + "\"")}}},
                         {"finish_reason", "stop"}}}}};
  const Json streamed = {{"path", "/chat/completions"},
                         {"body", "data: " + delta.dump() + "\n\n"},
                         {"headers", {{"Content-Type", "text/event-stream"}}},
                         {"content_type", "text/event-stream"}};
  fixture.fake.queue_behaviour(streamed.dump());
  CHECK(fixture.harness.generator.frame(hits(), {}) == kNone);
}

TEST_CASE("if framing fails, only the lines are missing") {
  generate::OpenAiOptions options = options_for();
  options.framing_timeout = std::chrono::milliseconds(200);
  for (const char* behaviour :
       {R"({"times":0,"fault":"hang"})", R"({"times":0,"fault":"close"})",
        R"({"times":0,"status":503})", R"({"times":0,"status":401})", R"({"times":0,"status":404})",
        R"({"times":0,"fault":"empty"})", R"({"times":0,"fault":"truncated_json"})",
        R"({"times":0,"answer":""})"}) {
    CAPTURE(std::string(behaviour));
    GeneratorFixture fixture({}, options);
    fixture.fake.queue_behaviour(behaviour);
    CHECK(fixture.harness.generator.frame(hits(), {}) == kNone);
    const bool silent = std::string(behaviour).find("answer") != std::string::npos;
    CHECK(fixture.harness.log.lines().empty() == silent);
  }
}

TEST_CASE("lines that take too long are left out") {
  generate::OpenAiOptions options = options_for();
  options.framing_timeout = std::chrono::milliseconds(100);
  GeneratorFixture fixture({}, options);
  fixture.fake.queue_behaviour(R"({"delay_ms":60000})");
  CHECK(fixture.harness.generator.frame(hits(), {}) == kNone);
  CHECK(fixture.harness.log.lines() ==
        "warning: recommendations without framing lines: they took too long\n");
  REQUIRE(fixture.fake.wait_for_requests(1));
  CHECK(fixture.fake.requests().front().disconnected_after.has_value());
}

TEST_CASE("without hits, or after a stop request, nothing is sent") {
  GeneratorFixture fixture;
  CHECK(fixture.harness.generator.frame({}, {}).empty());
  std::stop_source stop;
  stop.request_stop();
  CHECK(fixture.harness.generator.frame(hits(), stop.get_token()) == kNone);
  CHECK(fixture.fake.requests().empty());
}

}  // namespace openai_frame_test
