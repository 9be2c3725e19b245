#include "generate/chat_request.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/json.h"

namespace chat_request_test {

namespace {

using namespace stoka;
using namespace stoka::generate;
using Json = nlohmann::json;

const std::vector<Message> kMessages = {{"system", "be brief"}, {"user", "why \xFF?"}};

Json body(const OpenAiOptions& options, const RejectedFields& refused = {}) {
  const ChatParameters parameters{"m", kMessages, options.max_tokens, true, options.stop};
  const auto text = chat_body(parameters, options, refused);
  REQUIRE_MESSAGE(text.has_value(), text.error().message);
  return Json::parse(*text);
}

OpenAiOptions with_extra(std::string extra) {
  OpenAiOptions out;
  out.extra = std::move(extra);
  return out;
}

}  // namespace

TEST_CASE("a chat request contains the fields of the options") {
  const Json wanted = {
      {"model", "m"},
      {"messages", Json::parse(R"([{"role":"system","content":"be brief"},
                                   {"role":"user","content":"why \ufffd?"}])")},
      {"stream", true},
      {"stream_options", {{"include_usage", true}}},
      {"max_tokens", 280},
      {"temperature", 0.5},
      {"top_p", 0.9},
      {"stop", {"\nvisitor:", "</cite"}},
  };
  CHECK(body({}) == wanted);
}

TEST_CASE("empty fields are not sent") {
  const auto text = chat_body({"", {}, 0, false}, {}, {});
  REQUIRE(text.has_value());
  CHECK(Json::parse(*text) ==
        Json::parse(R"({"messages":[],"stream":false,"temperature":0.5,"top_p":0.9})"));
}

TEST_CASE("extra fields are added, override stoka's fields, or remove them") {
  const Json out = body(with_extra(
      R"({"chat_template_kwargs":{"enable_thinking":false},"temperature":0,"stop":null})"));
  CHECK(out["chat_template_kwargs"] == Json{{"enable_thinking", false}});
  CHECK(out["temperature"] == 0);
  CHECK_FALSE(out.contains("stop"));
  CHECK(out.contains("top_p"));
}

TEST_CASE("an `extra` that is not a JSON object gives a config error") {
  for (const std::string extra : {"[1]", "\"a\"", "{", "{\"a\":}", "null"}) {
    CAPTURE(extra);
    const auto checked = check_extra(extra);
    REQUIRE_FALSE(checked.has_value());
    CHECK(checked.error().kind == ErrorKind::config);
    CHECK_FALSE(chat_body({}, with_extra(extra), {}).has_value());
    CHECK_FALSE(completions_body("m", {}, 40, with_extra(extra), {}).has_value());
  }
  CHECK(check_extra("").has_value());
  CHECK(check_extra(" {} ").has_value());
}

TEST_CASE("rejected fields are left out, and max_tokens is renamed first") {
  Json out = body({}, {"stream_options", "temperature", "max_tokens"});
  CHECK_FALSE(out.contains("stream_options"));
  CHECK_FALSE(out.contains("temperature"));
  CHECK_FALSE(out.contains("max_tokens"));
  CHECK(out["max_completion_tokens"] == 280);
  out = body({}, {"max_tokens", "max_completion_tokens"});
  CHECK_FALSE(out.contains("max_tokens"));
  CHECK_FALSE(out.contains("max_completion_tokens"));
}

TEST_CASE("the rejected field is found in an error body") {
  struct Case {
    std::string refusal;
    RejectedFields known;
    std::string field;
  };
  const Case cases[] = {
      {R"({"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this )"
       R"(model. Use 'max_completion_tokens' instead.","param":"max_tokens"}})",
       {},
       "max_tokens"},
      {R"({"error":{"message":"Unsupported parameter: 'max_tokens' …'max_completion_tokens'"}})",
       {"max_tokens"},
       "max_completion_tokens"},
      {R"({"error":{"message":"Argument not supported on this model","param":"stop"}})",
       {},
       "stop"},
      {R"({"detail":[{"loc":["body","stop"],"msg":"Extra inputs are not permitted","input":["x"]}]})",
       {},
       "stop"},
      {R"(Invalid JSON payload received. Unknown name "stream_options": Cannot find field.)",
       {},
       "stream_options"},
      {R"({"error":{"message":"'temperature' does not support 0.5 with this model."}})",
       {},
       "temperature"},
      {R"({"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]})",
       {},
       "stream_options"},
      {R"({"error":"unknown field \"stop\""})", {}, "stop"},
      {R"({"error":"unknown field \"stop\""})", {"stop"}, ""},
      {R"({"error":"please stop; top_policy and xtop_p are bad"})", {}, ""},
      // Messages about a value or about something else, in bodies that repeat the request.
      {R"({"error":"top_p must be 1"})", {}, ""},
      {R"({"error":{"message":"max_tokens is too large: 20000. This model supports at most 16384 )"
       R"(completion tokens","param":"max_tokens"}})",
       {},
       ""},
      {R"({"error":{"message":"max_tokens above 4096 is not supported: too large"}})", {}, ""},
      {R"({"detail":[{"loc":["body","messages"],"msg":"unknown word","input":{"max_tokens":280}}]})",
       {},
       ""},
      {R"({"message":"unknown word","request":{"stop":["a"],"top_p":0.9}})", {}, ""},
      {R"({"error":"'max_tokens' is too large: 280. This model's maximum context length is 512"})",
       {},
       ""},
      {"", {}, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.refusal);
    CHECK(rejected_field(c.refusal, c.known) == c.field);
  }
}

TEST_CASE("a context overflow is recognised by the server's message") {
  CHECK(
      is_context_overflow(R"({"error":{"message":"This model's maximum Context Length is 512"}})"));
  CHECK(is_context_overflow("the request exceeds the available context size"));
  CHECK_FALSE(
      is_context_overflow(R"({"detail":[{"msg":"no","input":"what is a context window?"}]})"));
}

TEST_CASE("a completion request contains all prompts and stops at the end of the line") {
  const std::vector<std::string> prompts = {"a", "b"};
  const auto text = completions_body("m", prompts, 40, {}, {"top_p"});
  REQUIRE(text.has_value());
  CHECK(Json::parse(*text) == Json::parse(R"({"model":"m","prompt":["a","b"],"max_tokens":40,
                                              "temperature":0.5,"stop":["\n"]})"));
}

}  // namespace chat_request_test
