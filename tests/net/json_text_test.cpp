#include "net/json_text.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "support/json.h"

namespace json_text_test {

using stoka::net::error_message;
using stoka::net::repair_json;

TEST_CASE("text that is almost JSON becomes JSON") {
  struct Row {
    std::string_view name;
    std::string text;
    std::string mended;
  };
  const std::vector<Row> rows = {
      {"nothing", "", ""},
      {"JSON stays as it is", R"({"a": [1, -2.5e3, true, null, "x\n\"\\\u00e9é😀"]})",
       R"({"a": [1, -2.5e3, true, null, "x\n\"\\\u00e9é😀"]})"},
      {"invalid UTF-8", "\"caf\xc3 \xff\xfe\"", "\"caf\uFFFD \uFFFD\uFFFD\""},
      {"a surrogate in UTF-8", "\"\xed\xa0\xbd\"", "\"\uFFFD\uFFFD\uFFFD\""},
      {"a cut character at the end", "\"a\xf0\x9f", "\"a\uFFFD"},
      {"a pair of surrogates", R"("\ud83d\ude00\uD83D\uDE00")", R"("\ud83d\ude00\uD83D\uDE00")"},
      {"a high one alone", R"("a\ud83d")", R"("a\ufffd")"},
      {"a high one before text", R"("\ud83dx\n")", R"("\ufffdx\n")"},
      {"a high one before another escape", R"("\ud83d\u0041\ud83d\n")",
       R"("\ufffd\u0041\ufffd\n")"},
      {"two high ones and a low one", R"("\ud83d\ud83d\ude00")", R"("\ufffd\ud83d\ude00")"},
      {"a low one alone", R"("\ude00b")", R"("\ufffdb")"},
      {"an escaped backslash is no escape", R"("\\ud83d")", R"("\\ud83d")"},
      {"an odd escape is for the parser", R"("\ud8\uzzzz\q")", R"("\ud8\uzzzz\q")"},
      {"an escape before an invalid byte", "\"\\\xff\"", "\"\\\uFFFD\""},
      {"an escape at the end", "\"\\", "\"\\"},
      {"no numbers", "[NaN, Infinity, -Infinity,-NaN]", "[null, null, null,null]"},
      {"but not in strings", R"(["NaN", "a\"NaN", "-Infinity"])",
       R"(["NaN", "a\"NaN", "-Infinity"])"},
      {"in the value of a member", R"({"score":NaN})", R"({"score":null})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto mended = repair_json(row.text);
    REQUIRE(mended.has_value());
    CHECK(*mended == row.mended);
  }
}

TEST_CASE("repaired JSON is valid UTF-8, wherever the input was cut") {
  const std::string text = R"({"a":[NaN,"\ud83d\ude00 \ud83d é😀\\",-Infinity],"b":{}})";
  for (size_t at = 0; at <= text.size(); ++at) {
    const auto mended = repair_json(text.substr(0, at));
    REQUIRE(mended.has_value());
    CHECK_NOTHROW(nlohmann::json(*mended).dump());
  }
  CHECK(nlohmann::json::accept(*repair_json(text)));
}

TEST_CASE("deep nesting is rejected before parsing") {
  auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(repair_json(nested(64)).has_value());
  CHECK_FALSE(repair_json(nested(65)).has_value());
  CHECK(repair_json(nested(65)).error().kind == stoka::ErrorKind::protocol);
  CHECK(repair_json("[" + nested(2) + nested(2) + "]", 3).has_value());
  CHECK_FALSE(repair_json("[" + nested(2) + nested(3) + "]", 3).has_value());
  CHECK_FALSE(repair_json(std::string(1000000, '{')).has_value());
  // Brackets in strings do not count.
  CHECK(repair_json("[\"" + std::string(1000, '[') + "\"]").has_value());
}

TEST_CASE("the message of an error body is found in each of its shapes") {
  struct Row {
    std::string_view name;
    std::string body;
    std::string message;
  };
  const std::vector<Row> rows = {
      {"nothing", "", ""},
      {"white space", " \r\n", ""},
      {"openai", R"({"error":{"message":"Incorrect API key","type":"x","param":null,"code":null}})",
       "Incorrect API key"},
      {"vllm's key", R"({"error":"Unauthorized"})", "Unauthorized"},
      {"old vllm", R"({"object":"error","message":"too long","code":400})", "too long"},
      {"llama.cpp",
       R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})",
       "Loading model"},
      {"tei",
       R"({"error":"batch size 40 > maximum allowed batch size 32","error_type":"Validation"})",
       "batch size 40 > maximum allowed batch size 32"},
      {"tei's embeddings", R"({"message":"Model is overloaded","code":429,"type":"overloaded"})",
       "Model is overloaded"},
      {"a stream's", R"({"type":"error","code":"x","message":"upstream gone"})", "upstream gone"},
      {"FastAPI", R"({"detail":"Not Found"})", "Not Found"},
      {"FastAPI's list",
       R"({"detail":[{"loc":["body","input",0],"msg":"field required","type":"missing"}]})",
       "body.input.0: field required"},
      {"FastAPI's list without a place", R"({"detail":[{"msg":"field required"}]})",
       "field required"},
      {"problem+json", R"({"type":"about:blank","title":"Forbidden","status":403})", "Forbidden"},
      {"a list around it", R"([{"error":{"code":400,"message":"API key not valid"}}])",
       "API key not valid"},
      {"an error that is a flag", R"({"error":true,"message":"no"})", "no"},
      {"an empty error", R"({"error":{},"detail":"why"})", "why"},
      {"no message at all", R"({"error":null})", ""},
      {"a string", R"("model not loaded")", "model not loaded"},
      {"plain text", "Failed to buffer the request body: length limit exceeded\n",
       "Failed to buffer the request body: length limit exceeded"},
      {"broken JSON is plain text", "{\"error\":\"cut", "{\"error\":\"cut"},
      {"full stops", R"({"error":{"message":"The model does not exist. Or so.. \n"}})",
       "The model does not exist. Or so"},
      {"nothing but full stops", "...", ""},
      {"HTML", "\n<!DOCTYPE html><html><body>502 Bad Gateway</body></html>", ""},
      {"HTML in JSON", R"({"error":"<html>oops</html>"})", ""},
      {"several lines", "{\"error\":\"one\\n\\ttwo\\u001b[2Jthree\"}", "one two [2Jthree"},
      {"what reorders text", "\"a\u202Eb\"", "ab"},
      {"invalid UTF-8", "caf\xe9", "caf\uFFFD"},
      {"a lone surrogate", R"({"message":"x\ud83d"})", "x\uFFFD"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(error_message(row.body) == row.message);
  }
}

TEST_CASE("a long message is cut between characters") {
  std::string long_one;
  for (int i = 0; i < 300; ++i) long_one += "é";
  std::string wanted;
  for (int i = 0; i < 199; ++i) wanted += "é";
  CHECK(error_message(long_one) == wanted + "…");
  CHECK(error_message("{\"error\":\"" + long_one + "\"}") == wanted + "…");
  CHECK(error_message(std::string(200, 'x')) == std::string(200, 'x'));
  // It is too deep to parse, so its first line is used as plain text.
  CHECK(error_message(std::string(100000, '[')).size() == 199 + std::string("…").size());
}

TEST_CASE("a key is redacted before a message is cut") {
  const std::string key = "sk-0123456789/abcdefghijklmnopqrstuvwxyz";
  for (const std::string& body :
       {key, "\"" + key + "\"", std::string("\"sk-0123456789\\/abcdefghijklmnopqrstuvwxyz\""),
        std::string("\"sk-0123\\u202e456789/abcdefghijklmnopqrstuvwxyz\"")})
    CHECK(error_message(body, stoka::Secret(key)) == "***");
  CHECK(error_message(std::string(180, 'x') + key, stoka::Secret(key)) ==
        std::string(180, 'x') + "***");
}

}  // namespace json_text_test
