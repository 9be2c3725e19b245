#include "bench/load/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

#include "bench/load/board.h"

namespace stoka::load {
namespace {

constexpr int kDimension = 1024;
constexpr size_t kVectors = 1024;  // made once, then chosen by the hash of a text
constexpr int kPieces = 5;         // of a citation, as a tokenizer splits it
constexpr int kLongTokens = 4000;
constexpr std::array kWords = {"something ", "was ", "published ", "about ", "exactly ",
                               "that, ",     "and ", "it ",        "is ",    "short. "};
constexpr std::string_view kOpen =
    R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"fake-model",)"
    R"("choices":[{"index":0,"delta":{"content":")";
constexpr std::string_view kClose = "\"},\"finish_reason\":null}]}\n\n";

uint64_t hash_of(std::string_view text) {
  uint64_t out = 14695981039346656037u;
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return out ^ (out >> 32);
}

const std::string& vector_json(std::string_view text) {
  static std::array<std::string, kVectors> all;
  const size_t at = hash_of(text) % kVectors;
  std::string& out = all[at];
  if (!out.empty()) return out;
  std::mt19937 random(static_cast<uint32_t>(at));
  std::normal_distribution<double> normal;
  std::array<double, kDimension> values{};
  double square = 0;
  for (double& value : values) {
    value = normal(random);
    square += value * value;
  }
  out += '[';
  for (const double value : values) out += fmt::format("{:.7f},", value / std::sqrt(square));
  out.back() = ']';
  return out;
}

void chunk(std::string& out, std::string_view bytes) {
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", bytes.size());
  out += bytes;
  out += "\r\n";
}

struct Quote {
  std::string slug, text;
};

// From the prompt's <chunk slug=\"…\" …>\nTITLE\n\nCONTENT: the slug and a sentence.
std::vector<Quote> quotes_of(std::string_view body, size_t most) {
  static constexpr std::string_view kChunk = "<chunk slug=\\\"";
  std::vector<Quote> out;
  for (size_t at = body.find(kChunk); at != body.npos && out.size() < most;
       at = body.find(kChunk, at + 1)) {
    const size_t slug = at + kChunk.size(), slug_end = body.find('\\', slug);
    const size_t blank = body.find("\\n\\n", slug);
    if (slug_end == body.npos || blank == body.npos) break;
    const std::string_view content = body.substr(blank + 4, 400);
    const std::string_view plain = content.substr(0, content.find('\\'));
    const size_t stop = plain.find(". ");
    Quote quote{std::string(body.substr(slug, slug_end - slug)),
                std::string(plain.substr(0, stop == plain.npos ? 80 : stop + 1))};
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const Quote& other) { return other.slug == quote.slug; });
    if (!known && !quote.text.empty()) out.push_back(std::move(quote));
  }
  return out;
}

}  // namespace

std::vector<std::string_view> strings_of(std::string_view body, std::string_view key) {
  std::vector<std::string_view> out;
  size_t at = body.find(fmt::format("\"{}\":", key));
  if (at == body.npos) return out;
  at += key.size() + 3;
  const bool array = at < body.size() && body[at] == '[';
  for (at += array ? 1 : 0; at < body.size() && body[at] == '"'; at += body[at] == ',' ? 1 : 0) {
    size_t end = at + 1;
    while (end < body.size() && body[end] != '"') end += body[end] == '\\' ? 2 : 1;
    if (end >= body.size()) break;
    out.push_back(body.substr(at + 1, end - at - 1));
    at = end + 1;
    if (!array || at >= body.size()) break;
  }
  return out;
}

std::string info_json() {
  return R"({"model_id":"bench/fake","model_sha":"0123456789abcdef","model_dtype":"float16",)"
         R"("model_type":{"embedding":{"pooling":"cls"}},"max_concurrent_requests":100000,)"
         R"("max_input_length":8192,"max_batch_tokens":65536,"max_client_batch_size":64,)"
         R"("version":"1.8.0"})";
}

std::string models_json() {
  return R"({"object":"list","data":[{"id":"fake-model","object":"model","owned_by":"bench"}]})";
}

std::string embed_json(std::string_view body) {
  std::string out = "[";
  for (const std::string_view text : strings_of(body, "inputs")) {
    if (out.size() > 1) out += ',';
    out += vector_json(text);
  }
  return out + "]";
}

std::string rerank_json(std::string_view body) {
  const bool none = body.find(kNoMatch) != body.npos;
  std::string out = "[";
  const size_t count = strings_of(body, "texts").size();
  for (size_t i = 0; i < count; ++i)
    fmt::format_to(std::back_inserter(out), "{}{{\"index\":{},\"score\":{:.6f}}}",
                   i == 0 ? "" : ",", i,
                   none ? 0.01 : 0.99 - 0.1 * static_cast<double>(i) / static_cast<double>(count));
  return out + "]";
}

std::string whole_chat_json(std::string_view body) {
  const size_t at = body.find("\"n\":");
  const int count = at == body.npos ? 1 : std::max(1, std::atoi(body.data() + at + 4));
  std::string out = R"({"id":"x","object":"chat.completion","created":1,"model":"fake-model",)"
                    R"("choices":[)";
  for (int i = 0; i < std::min(count, 10); ++i)
    fmt::format_to(std::back_inserter(out),
                   R"({}{{"index":{},"message":{{"role":"assistant","content":)"
                   R"("the short one, number {}."}},"finish_reason":"stop"}})",
                   i == 0 ? "" : ",", i, i);
  return out + R"(],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}})";
}

std::string http(int status, std::string_view json) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      status == 200 ? "200 OK" : fmt::format("{} Error", status), json.size(), json);
}

std::string stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
         "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";
}

Script::Script(std::string_view body, int tokens, int citations, bool paced)
    : tokens_(tokens), paced_(paced), long_(body.find(kLongAnswer) != body.npos) {
  if (long_) tokens_ = kLongTokens;
  at_.resize(static_cast<size_t>(tokens_));
  const auto quotes = quotes_of(body, static_cast<size_t>(citations));
  for (size_t i = 0; i < quotes.size(); ++i) {
    const std::string tag =
        fmt::format("<cite slug=\\\"{}\\\" quote=\\\"{}\\\"/>", quotes[i].slug, quotes[i].text);
    const size_t first = at_.size() * (i + 1) / (quotes.size() + 1);
    size_t from = 0;
    for (size_t piece = 1; piece <= kPieces && first + piece <= at_.size(); ++piece) {
      size_t to = tag.size() * piece / kPieces;
      if (to < tag.size() && tag[to - 1] == '\\') ++to;
      at_[first + piece - 1] = tag.substr(from, to - from);
      from = to;
    }
  }
}

void Script::token(std::string& out, int at, int64_t due_us) const {
  const std::string& piece = at_[static_cast<size_t>(at)];
  std::string_view text = kWords[static_cast<size_t>(at) % kWords.size()];
  char stamp[16];
  if (!piece.empty()) {
    text = piece;
  } else if (long_) {
    static const std::string padding(1500, 'a');
    text = padding;
  } else if (paced_) {
    const auto end = fmt::format_to(stamp, "t{:010d} ", due_us % 10000000000);
    text = {stamp, static_cast<size_t>(end - stamp)};
  }
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", kOpen.size() + text.size() + kClose.size());
  out += kOpen;
  out += text;
  out += kClose;
  out += "\r\n";
}

void Script::finish(std::string& out) {
  chunk(out, R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"fake-model",)"
             R"("choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
             "\n\n");
  chunk(out, "data: [DONE]\n\n");
  out += "0\r\n\r\n";
}

void Script::error_event(std::string& out) {
  chunk(out, R"(data: {"error":{"message":"the model has failed","type":"server_error",)"
             R"("code":500}})"
             "\n\n");
  chunk(out, "data: [DONE]\n\n");
  out += "0\r\n\r\n";
}

void Script::garbage(std::string& out) {
  chunk(out,
        "data: {\"choices\":[{\"delta\":{\"content\":\"caf\xff\xfe \xc3(\n\n\x01\x02 nonsense\n\n");
  chunk(out, "event: what\ndata: ]]]]\n\n");
  out += "zz\r\nnot a chunk\r\n";
}

}  // namespace stoka::load
