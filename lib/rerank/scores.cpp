#include "rerank/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "net/json_text.h"

namespace stoka::rerank {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostDepth = 16;
constexpr double kMarkOfFailure = -1e5;
constexpr double kRounding = 1e-3;  // half precision: 1.0001 is no logit

tl::unexpected<std::string> complain(std::string what) {
  return tl::unexpected<std::string>(std::move(what));
}

// The list of results, wherever it is; nullptr if there is none.
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
    if (score >= kMarkOfFailure) return score;
  }
  return std::nullopt;
}

}  // namespace

tl::expected<Scores, std::string> read_scores(std::string_view body, size_t texts) {
  const Result<std::string> mended = net::mend_json(body, kMostDepth);
  if (!mended) return complain("sent JSON that is nested too deep");
  const Json json = Json::parse(*mended, nullptr, false);
  if (json.is_discarded()) return complain("sent something that is not JSON");
  const Json* const results = find_results(json);
  if (results == nullptr) {
    const std::string message = json.is_object() ? net::error_message(body) : std::string();
    return complain(message.empty() ? "sent no list of scores" : "sent an error: " + message);
  }
  Scores out(texts);
  std::vector<bool> taken(texts);
  for (const Json& result : *results) {
    const auto index = result.is_object() ? result.find("index") : result.end();
    if (index == result.end() || !index->is_number_integer())
      return complain("sent a score without an index");
    if (!index->is_number_unsigned() || index->get<uint64_t>() >= texts)
      return complain(fmt::format("sent index {} for {} texts", index->dump(), texts));
    const size_t at = index->get<size_t>();
    if (taken[at]) return complain(fmt::format("sent index {} twice", at));
    taken[at] = true;
    out[at] = find_score(result);
  }
  return out;
}

void squash_logits(Scores& scores) {
  const bool logits =
      std::any_of(scores.begin(), scores.end(), [](const std::optional<double>& score) {
        return score && (*score < -kRounding || *score > 1 + kRounding);
      });
  for (std::optional<double>& score : scores)
    if (score) score = logits ? 1 / (1 + std::exp(-*score)) : std::clamp(*score, 0.0, 1.0);
}

}  // namespace stoka::rerank
