#include "generate/chat_decoder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace chat_decoder_test {

namespace {

using namespace stoka;
using namespace stoka::generate;
using net::BodyProgress;

constexpr std::string_view kStream = "text/event-stream";

std::string golden(std::string_view name) {
  std::ifstream file(fmt::format("{}/tests/generate/streams/{}.txt", STOKA_SOURCE_DIR, name),
                     std::ios::binary);
  REQUIRE_MESSAGE(file.good(), std::string(name));
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

struct Decoded {
  std::string text;
  std::string end;  // "complete", … or "kind: message"
  int64_t prompt_tokens = 0;
  bool reasoning_in_text = false;
  bool operator==(const Decoded&) const = default;
};

std::string described(const Error& error) {
  return fmt::format("{}: {}", to_string(error.kind), error.message);
}

std::string described(FinishReason finish) {
  if (finish == FinishReason::complete) return "complete";
  return finish == FinishReason::length ? "length" : "truncated";
}

Decoded decode(const std::vector<std::string_view>& pieces, std::string_view content_type = kStream,
               ChatLimits limits = {}) {
  Decoded out;
  size_t empty_deltas = 0;
  ChatDecoder decoder(
      [&](std::string_view delta) {
        if (delta.empty()) ++empty_deltas;
        out.text += delta;
      },
      limits);
  const auto head = decoder.head(content_type);
  if (!head) return {"", described(head.error())};
  for (const std::string_view piece : pieces) {
    const auto progress = decoder.push(piece);
    if (!progress) {
      CHECK_FALSE(decoder.finished());
      out.end = described(progress.error());
      return out;
    }
    if (*progress == BodyProgress::stop_reading) break;
  }
  const auto end = decoder.finish();
  CHECK(empty_deltas == 0);
  out.end = end ? described(end->finish) : described(end.error());
  if (end) out.prompt_tokens = end->prompt_tokens;
  if (end) out.reasoning_in_text = end->reasoning_in_text;
  return out;
}

struct Case {
  std::string_view stream;
  std::string text;
  std::string end = "complete";
  int64_t prompt_tokens = 0;
  bool reasoning_in_text = false;
};

std::vector<Case> cases() {
  const std::string line = "one line of it.";
  return {
      {"vllm", line, "complete", 31},
      {"vllm_reasoning", line},
      {"vllm_usage_on_every_chunk", line, "length", 31},
      {"vllm_error", "one line",
       "unavailable: the model server failed: EngineCore encountered an issue"},
      {"llamacpp", line, "complete", 31},
      {"llamacpp_think_tags", line},
      {"llamacpp_error", "one line", "unavailable: the model server failed: failed to decode"},
      {"ik_llama_no_done", line, "complete", 31},
      {"ollama", line, "complete", 31},
      {"ollama_lost_error", "one line", "truncated"},
      {"ollama_lost_error_at_once", "", "protocol: the answer broke off before its first word"},
      {"lmstudio", line, "complete", 31},
      {"lmstudio_error", "one line",
       "unavailable: the model server failed: Error rendering prompt with jinja template"},
      {"lmstudio_error_text", "", "unavailable: the model server failed: Model unloaded"},
      {"openai", line, "complete", 31},
      {"openai_content_filter", "one line",
       "protocol: the provider's content filter ended the answer"},
      {"openrouter", line, "complete", 31},
      {"openrouter_error", "one line",
       "unavailable: the model server failed: Provider is overloaded"},
      {"parts", line},
      {"anthropic_error", "one line", "unavailable: the model server failed: Overloaded"},
      {"surrogates", "a \U0001F600 b \uFFFDc \uFFFD \U0001F600 \\ud83d \uFFFD\U0001F600 \uFFFD"},
      {"multibyte", "naïve 日本語\u2028 😀 ok"},
      {"invalid_utf8", "caf\uFFFD\uFFFD ok"},
      {"done_unended", line},
      {"done_without_finish", "one line", "truncated"},
      {"cut_in_event", "one line", "truncated"},
      {"tool_calls", "", "protocol: the model called a tool, but there are no tools"},
      {"thought_only", "", "config: the model spent its 280 tokens thinking"},
      {"thought_aloud", "Hm, so.\n\none line.", "complete", 0, true},
      {"nothing", "", "protocol: the model wrote no answer"},
      {"bare_text", "one line", "protocol: the model server sent no JSON: upstream connect error"},
      {"odd", line},
  };
}

std::string event(std::string_view json) { return fmt::format("data: {}\n\n", json); }

std::string delta(std::string_view field, std::string_view text) {
  return event(fmt::format(R"({{"choices":[{{"index":0,"delta":{{"{}":"{}"}}}}]}})", field, text));
}

}  // namespace

TEST_CASE("the streams of all servers decode to the same text and outcome in any split") {
  for (const Case& c : cases()) {
    CAPTURE(std::string(c.stream));
    const std::string bytes = golden(c.stream);
    const Decoded whole = decode({bytes});
    CHECK(whole.text == c.text);
    CHECK(whole.end == c.end);
    CHECK(whole.prompt_tokens == c.prompt_tokens);
    CHECK(whole.reasoning_in_text == c.reasoning_in_text);
    const std::string_view view = bytes;
    for (size_t at = 0; at <= bytes.size(); ++at) {
      CAPTURE(at);
      REQUIRE(decode({view.substr(0, at), view.substr(at)}) == whole);
    }
    std::vector<std::string_view> singles;
    for (size_t at = 0; at < bytes.size(); ++at) singles.push_back(view.substr(at, 1));
    CHECK(decode(singles) == whole);
  }
}

TEST_CASE("each delta is passed on at once") {
  std::vector<std::string> deltas;
  ChatDecoder decoder([&](std::string_view text) { deltas.emplace_back(text); });
  REQUIRE(decoder.head(kStream).has_value());
  CHECK(decoder.push(event(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})")) ==
        BodyProgress::nothing_useful);
  CHECK(decoder.push(": ping\n\n") == BodyProgress::nothing_useful);
  CHECK(decoder.push(delta("reasoning", "hm")) == BodyProgress::content);
  CHECK(deltas.empty());
  CHECK(decoder.push(delta("content", "one ") + delta("content", "two")) == BodyProgress::content);
  CHECK(deltas == std::vector<std::string>{"one ", "two"});
  CHECK_FALSE(decoder.finished());
  CHECK(decoder.push(event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})")) ==
        BodyProgress::content_complete);
  CHECK(decoder.finished());
  CHECK(decoder.push("data: [DONE]\n\n") == BodyProgress::content_complete);
  CHECK(decoder.push(delta("content", "three")) == BodyProgress::content_complete);
  CHECK(deltas.size() == 2);
  CHECK(decoder.finish()->finish == FinishReason::complete);
}

TEST_CASE("an error event after the finish reason makes the answer fail") {
  const std::string stop =
      event(R"({"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]})");
  CHECK(decode({stop, event(R"({"error":"out of memory"})")}).end ==
        "unavailable: the model server failed: out of memory");
}

TEST_CASE("the kind of an error follows the server's error code") {
  const std::pair<std::string, std::string> kinds[] = {
      {R"({"error":{"message":"m","code":401}})", "config"},
      {R"({"error":{"message":"m","code":"403"}})", "config"},
      {R"({"error":{"message":"m","code":400}})", "protocol"},
      {R"({"error":{"message":"m","code":429}})", "unavailable"},
      {R"({"error":{"message":"m","code":null}})", "unavailable"},
      {R"({"type":"error","code":400,"message":"m"})", "protocol"},
      {R"({"object":"error","message":"m"})", "unavailable"},
      {R"({"error":true})", "unavailable"},
      {R"({"error":1})", "unavailable"},
      {R"({"choices":[{"delta":{},"finish_reason":"error"}]})", "unavailable"},
  };
  for (const auto& [json, kind] : kinds) {
    CAPTURE(json);
    CHECK(decode({event(json)}).end.starts_with(kind + ": the model server failed"));
  }
}

TEST_CASE("a response that is not streamed is decoded") {
  const std::pair<std::string, std::string> bodies[] = {
      {R"({"choices":[{"index":0,"message":{"role":"assistant","content":"a b"},)"
       R"("finish_reason":"stop"}],"usage":{"prompt_tokens":9}})",
       "a b|complete"},
      {R"({"choices":[{"message":{"content":"<think>x</think>a"},"finish_reason":"length"}]})",
       "a|length"},
      {R"({"choices":[{"message":{"content":"a"}}]})", "a|complete"},
      {R"({"choices":[{"message":{"content":"hm, so.</think>\n\na"}}]})", "a|complete"},
      {R"({"choices":[{"message":{"content":"hm, so.</think>"}}]})",
       "|protocol: the model thought but wrote no answer"},
      {R"({"choices":[{"message":{"content":[{"type":"text","text":"a"}]}}]})", "a|complete"},
      {R"({"choices":[{"message":{"content":"\ud83d"}}]})", "\uFFFD|complete"},
      {R"({"choices":[{"message":{"content":null},"finish_reason":"tool_calls"}]})",
       "|protocol: the model called a tool, but there are no tools"},
      {R"({"choices":[{"message":{"content":null,"reasoning_content":"hm"}}]})",
       "|protocol: the model thought but wrote no answer"},
      {R"({"choices":[]})", "|protocol: an answer without choices"},
      {R"({"detail":"not here"})", "|protocol: an answer without choices: not here"},
      {R"({"error":{"message":"boom","code":500}})", "|unavailable: the model server failed: boom"},
      {R"({"choices":[{"message":{"conte)", "|protocol: the model server sent no JSON"},
      {"", "|protocol: the model server sent no JSON"},
      {"[1]", "|protocol: the model server sent no JSON"},
  };
  for (const auto& [body, wanted] : bodies) {
    CAPTURE(body);
    const std::string_view view = body;
    const Decoded whole = decode({view}, "application/json");
    CHECK((whole.text + "|" + whole.end).starts_with(wanted));
    for (size_t at = 0; at <= body.size(); ++at)
      REQUIRE(decode({view.substr(0, at), view.substr(at)}, "application/json") == whole);
  }
}

TEST_CASE("other content types are rejected") {
  for (const std::string type : {"text/html", "text/plain", "application/x-ndjson"})
    CHECK(decode({}, type).end ==
          fmt::format("protocol: answered with {} instead of an event stream", type));
  CHECK(decode({}, "").end == "protocol: answered with no content type instead of an event stream");
}

TEST_CASE("an answer that is longer than the limit is cut between characters") {
  const std::string stream =
      delta("content", "ab") + delta("content", "cé") + delta("content", "f");
  CHECK(decode({stream}, kStream, {5}) == Decoded{"abcé", "length"});
  CHECK(decode({stream}, kStream, {4}) == Decoded{"abc", "length"});
  CHECK(decode({stream}, kStream, {7}) == Decoded{"abcéf", "truncated"});
  CHECK(decode({delta("reasoning", "hmm") + stream}, kStream, {5}) == Decoded{"abcé", "length"});
  CHECK(decode({delta("content", "<think>hmm</think>") + stream}, kStream, {25}) ==
        Decoded{"abcéf", "truncated"});
}

TEST_CASE("reasoning above the limit gives an error that says so") {
  const std::string stream = delta("reasoning", "hmm") + delta("thinking", "hmm");
  CHECK(decode({stream}, kStream, {100, 6}).end ==
        "config: the model thought for 6 bytes without answering");
  CHECK(decode({delta("content", "<think>hmm")}, kStream, {100, 3}).end ==
        "config: the model thought for 3 bytes without answering");
  CHECK(decode({stream + delta("content", "a")}, kStream, {1, 7}).end == "length");
  ChatDecoder decoder([](std::string_view) {}, {100, 3});
  REQUIRE(decoder.head(kStream).has_value());
  CHECK(decoder.push(stream) == BodyProgress::stop_reading);
  CHECK(decoder.finish().error().hint.find("max_tokens") == std::string::npos);
}

TEST_CASE("long reasoning does not count against the limit of the answer") {
  std::string stream;
  for (int i = 0; i < 700; ++i) stream += delta("reasoning_content", std::string(100, 'x'));
  stream += delta("content", "the answer") + "data: [DONE]\n\n";
  CHECK(decode({stream}).text == "the answer");
}

TEST_CASE("empty events are ignored") {
  const std::string answer =
      event(R"({"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]})");
  std::string empty;
  for (int i = 0; i < 100000; ++i) empty += "data:\n\n";
  CHECK(decode({empty, answer, empty}) == Decoded{"a", "complete"});
  CHECK(decode({"event: error\ndata:\n\n"}).end.starts_with("unavailable: "));
}

TEST_CASE("prompt tokens are not reported if some of them were cached") {
  const std::string answer =
      event(R"({"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]})");
  const std::pair<std::string, int64_t> usages[] = {
      {R"({"prompt_tokens":9})", 9},
      {R"({"prompt_tokens":9,"prompt_tokens_details":null})", 9},
      {R"({"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":0}})", 9},
      {R"({"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0}})", 0},
      {R"({"prompt_tokens_details":{"cached_tokens":4},"prompt_tokens":9})", 0},
  };
  for (const auto& [usage, tokens] : usages) {
    CAPTURE(usage);
    CHECK(decode({answer, event(R"({"choices":[],"usage":)" + usage + "}")}).prompt_tokens ==
          tokens);
  }
}

TEST_CASE("a key that the server repeats is not in an error, however the message is cut") {
  const std::string key = "sk-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO";
  for (size_t before = 130; before < 210; before += 3) {
    CAPTURE(before);
    const std::string words = std::string(before, 'x') + " " + key;
    for (const std::string& bytes : {event(R"({"error":")" + words + R"("})"), event(words),
                                     "event: error\ndata: " + words + "\n\n"}) {
      ChatDecoder decoder([](std::string_view) {}, {}, Secret(key));
      REQUIRE(decoder.head(kStream).has_value());
      const auto progress = decoder.push(bytes);
      REQUIRE_FALSE(progress.has_value());
      CHECK(progress.error().message.find("xxx") != std::string::npos);
      CHECK(progress.error().message.find("sk-") == std::string::npos);
    }
  }
}

TEST_CASE("a body that is too large or nested too deeply is rejected") {
  const std::string body = R"({"choices":[{"message":{"content":"a"}}]})";
  CHECK(decode({body}, "application/json", {100, 100, 10}).end ==
        "protocol: the answer is longer than 10 bytes");
  std::string deep = R"({"x":)";
  for (int i = 0; i < 100; ++i) deep += "[";
  CHECK(decode({event(deep)}).end.starts_with("protocol: "));
  CHECK(decode({"data: " + std::string(2u << 20, 'x')}).end.starts_with("protocol: "));
}

TEST_CASE("any sequence of bytes is decoded or rejected without a crash") {
  std::minstd_rand random(1);
  auto below = [&](size_t most) { return static_cast<size_t>(random()) % most; };
  for (const Case& c : cases()) {
    const std::string bytes = golden(c.stream);
    for (int round = 0; round < 50; ++round) {
      std::string broken = bytes;
      for (size_t i = 0; i < 1 + below(4) && !broken.empty(); ++i) {
        const size_t at = below(broken.size());
        if (below(2) == 0) broken[at] = static_cast<char>(below(256));
        if (below(3) == 0) broken.erase(at, below(20));
        if (below(3) == 0) broken.insert(at, bytes.substr(below(bytes.size()), 20));
      }
      CHECK_FALSE(decode({broken}).end.empty());
      CHECK_FALSE(decode({broken}, "application/json").end.empty());
    }
  }
}

}  // namespace chat_decoder_test
