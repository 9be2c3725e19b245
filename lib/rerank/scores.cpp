#include "rerank/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "net/json_text.h"

namespace stoka::rerank {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDepth = 16;
constexpr double kFailureScore = -1e5;
constexpr double kRoundingError = 1e-3;  // of half precision: 1.0001 is not a logit

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

tl::expected<Scores, std::string> parse_scores(std::string_view body, size_t texts) {
  const Result<std::string> mended = net::mend_json(body, kMaxDepth);
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
