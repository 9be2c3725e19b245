#include "rerank/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "net/json_text.h"
#include "text/utf8.h"

namespace stoka::rerank {
namespace {

using Json = nlohmann::json;
using std::chrono::steady_clock;

// Texts in one request: the default limit of text-embeddings-inference.
constexpr size_t kMaxBatchTexts = 32;
constexpr int kMaxCuts = 2;  // how often all texts may be cut to half their length
constexpr size_t kMaxJsonDepth = 16;
constexpr double kFailureScore = -1e5;   // a score below this marks a failure of the server
constexpr double kRoundingError = 1e-3;  // the error of a half-precision 1: 1.0001 is no logit

std::string chunk_text(const Chunk& chunk, size_t max_bytes) {
  std::string out = chunk.title;
  for (const std::string_view part :
       {std::string_view(chunk.section), std::string_view(chunk.content)}) {
    if (!out.empty() && !part.empty()) out += '\n';
    out += part;
  }
  if (out.size() > max_bytes) out.resize(text::floor_char_boundary(out, max_bytes));
  return out;
}

std::vector<std::string> hit_texts(std::span<const Hit> hits, size_t max_bytes) {
  std::vector<std::string> out;
  for (const Hit& hit : hits) out.push_back(chunk_text(hit.chunk, max_bytes));
  return out;
}

bool has_too_many_texts(const net::HttpResponse& answer) {
  return (answer.status == 413 || answer.status == 422) &&
         net::error_message(answer.body).find("batch size") != std::string::npos;
}

// Recognises the messages of servers that run another kind of model.
bool is_not_reranker(const net::HttpResponse& answer, std::string_view message) {
  const auto contains = [&](std::string_view words) { return message.find(words) != message.npos; };
  return answer.status == 501 || contains("not a re-ranker") ||
         (answer.status == 400 && contains("does not support"));
}

// Recognises messages such as "you must provide a model parameter" and "The model `x` does not
// exist", but not "this model's maximum context length".
bool requires_other_model(const net::HttpResponse& answer, std::string_view message) {
  const bool is_client_error = answer.status == 400 || answer.status == 404 || answer.status == 422;
  return is_client_error && !net::is_input_too_long(answer) &&
         (message.find("model") != message.npos || message.find("Model") != message.npos);
}

tl::unexpected<std::string> parse_failure(std::string message) {
  return tl::unexpected<std::string>(std::move(message));
}

// Finds the list of results. Returns nullptr if there is none.
const Json* find_results(const Json& json) {
  if (json.is_array()) return &json;
  for (const char* key : {"results", "data"}) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    if (found != json.end() && found->is_array()) return &*found;
  }
  return nullptr;
}

std::optional<double> find_score(const Json& result) {
  for (const char* key : {"relevance_score", "score"}) {
    const auto found = result.find(key);
    if (found == result.end() || !found->is_number()) continue;
    const double score = found->get<double>();
    if (score >= kFailureScore) return score;
  }
  return std::nullopt;
}

}  // namespace

std::string RemoteReranker::name() const {
  return fmt::format("{} at {}", kind_, upstream_.options().url.display());
}

Result<Scores> RemoteReranker::score(std::string_view query, std::span<const Hit> hits,
                                     std::stop_token stop) {
  Scores out(hits.size());
  if (hits.empty()) return out;
  const steady_clock::time_point end = steady_clock::now() + options_.budget;
  const size_t count = std::min(hits.size(), options_.max_hits);
  size_t batch = kMaxBatchTexts, max_text_bytes = options_.max_text_bytes;
  int cuts = 0;
  for (size_t at = 0; at < count;) {
    const auto left = std::chrono::duration_cast<net::Milliseconds>(end - steady_clock::now());
    if (left.count() <= 0)
      return fail(ErrorKind::timeout,
                  fmt::format("{}: scored {} of {} texts within {} ms", upstream_.description(), at,
                              count, options_.budget.count()),
                  "it may be busy: try again, or raise " + upstream_.setting_name("timeout"));
    const size_t size = std::min(batch, count - at);
    net::Call call{"rerank",
                   request_body(query, hit_texts(hits.subspan(at, size), max_text_bytes))};
    call.timeout = left;
    STOKA_ASSIGN(const net::HttpResponse answer, upstream_.call(call, stop));
    if (answer.ok()) {
      const tl::expected<Scores, std::string> scores = parse_scores(answer.body, size);
      if (!scores) return fail(upstream_.protocol_error(scores.error()));
      std::copy(scores->begin(), scores->end(), out.begin() + static_cast<long>(at));
      at += size;
    } else if (has_too_many_texts(answer) && size > 1) {
      batch = size / 2;
    } else if (net::is_input_too_long(answer) && cuts < kMaxCuts) {
      ++cuts;
      max_text_bytes /= 2;
    } else {
      return fail(error_for(answer));
    }
  }
  if (std::none_of(out.begin(), out.end(), [](const auto& score) { return score.has_value(); }))
    return fail(upstream_.protocol_error(fmt::format("scored none of {} texts", count)));
  normalize_scores(out);
  return out;
}

Error RemoteReranker::error_for(const net::HttpResponse& answer) const {
  std::string message = net::error_message(answer.body, upstream_.options().key);
  const bool is_other_kind = is_not_reranker(answer, message);
  if (!is_other_kind && requires_other_model(answer, message))
    return Error(
        ErrorKind::config,
        fmt::format("{} requires a valid model name: {}", upstream_.description(), message),
        model_hint());
  const bool lacks_endpoint = answer.status == 404 || answer.status == 405;
  if (!is_other_kind && !lacks_endpoint) return upstream_.status_error(answer);
  if (message.empty()) message = fmt::format("status {}", answer.status);
  return Error(ErrorKind::config,
               fmt::format("{} is not a reranker: {}", upstream_.description(), message),
               is_other_kind ? fmt::format("serve a cross-encoder there, or set {} to one",
                                           upstream_.setting_name("url"))
                             : endpoint_hint());
}

std::string TeiReranker::request_body(std::string_view query,
                                      std::span<const std::string> texts) const {
  return to_json_text(Json{{"query", query},
                           {"texts", std::vector<std::string>(texts.begin(), texts.end())},
                           {"raw_scores", false},
                           {"truncate", true}});
}

// These requests name no model, so a server that requires one is of another kind.
std::string TeiReranker::model_hint() const {
  return fmt::format("for a server with /v1/rerank set {}, and {}",
                     upstream_.setting_name("kind", "jina"), upstream_.setting_name("model"));
}

std::string TeiReranker::endpoint_hint() const {
  return fmt::format("leave /v1 out of {}, or for a server with /v1/rerank set {}",
                     upstream_.setting_name("url"), upstream_.setting_name("kind", "jina"));
}

std::string JinaReranker::request_body(std::string_view query,
                                       std::span<const std::string> texts) const {
  Json json = {{"query", query},
               {"documents", std::vector<std::string>(texts.begin(), texts.end())},
               {"top_n", texts.size()}};
  if (!options_.model.empty()) json["model"] = options_.model;
  return to_json_text(json);
}

std::string JinaReranker::model_hint() const { return "set " + upstream_.setting_name("model"); }

std::string JinaReranker::endpoint_hint() const {
  return fmt::format("for text-embeddings-inference set {}; else serve a reranker there, or set {}",
                     upstream_.setting_name("kind", "tei"), upstream_.setting_name("url"));
}

tl::expected<Scores, std::string> parse_scores(std::string_view body, size_t texts) {
  const Result<std::string> mended = net::repair_json(body, kMaxJsonDepth);
  if (!mended) return parse_failure("sent JSON that is nested too deep");
  const Json json = Json::parse(*mended, nullptr, false);
  if (json.is_discarded()) return parse_failure("sent something that is not JSON");
  const Json* const results = find_results(json);
  if (results == nullptr) {
    const std::string message = json.is_object() ? net::error_message(body) : std::string();
    return parse_failure(message.empty() ? "sent no list of scores" : "sent an error: " + message);
  }
  Scores out(texts);
  std::vector<bool> seen(texts);
  for (const Json& result : *results) {
    const auto index = result.is_object() ? result.find("index") : result.end();
    if (index == result.end() || !index->is_number_integer())
      return parse_failure("sent a score without an index");
    if (!index->is_number_unsigned() || index->get<uint64_t>() >= texts)
      return parse_failure(fmt::format("sent index {} for {} texts", index->dump(), texts));
    const size_t at = index->get<size_t>();
    if (seen[at]) return parse_failure(fmt::format("sent index {} twice", at));
    seen[at] = true;
    out[at] = find_score(result);
  }
  return out;
}

void normalize_scores(Scores& scores) {
  const bool are_logits =
      std::any_of(scores.begin(), scores.end(), [](const std::optional<double>& score) {
        return score && (*score < -kRoundingError || *score > 1 + kRoundingError);
      });
  for (std::optional<double>& score : scores)
    if (score) score = are_logits ? 1 / (1 + std::exp(-*score)) : std::clamp(*score, 0.0, 1.0);
}

}  // namespace stoka::rerank
