#include "pipeline/explain.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "text/normalize.h"

namespace stoka::pipeline {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

std::string rank(int rank) { return rank == 0 ? "-" : fmt::format("#{}", rank); }

}  // namespace

std::string ranking_json(std::string_view query, const rerank::ConfidenceResult& confidence,
                         std::span<const Hit> hits) {
  Json results = Json::array();
  for (const Hit& hit : hits) {
    Json factors = Json::array();
    for (const PolicyReceipt& factor : hit.factors)
      factors.push_back({{"rule", factor.rule}, {"factor", factor.factor}});
    results.push_back({{"slug", hit.chunk.slug},
                       {"chunk_index", hit.chunk.index},
                       {"title", hit.chunk.title},
                       {"type", hit.chunk.type},
                       {"raw", rounded(hit.raw_score)},
                       {"scored", !hit.is_unscored},
                       {"score", rounded(hit.score)},
                       {"factors", std::move(factors)},
                       {"section", hit.chunk.section},
                       {"cosine", rounded(hit.cosine)},
                       {"bm25", rounded(hit.bm25)},
                       {"fused", rounded(hit.fused)}});
  }
  return to_json_text(Json{{"query", query},
                           {"confidence", to_string(confidence.confidence)},
                           {"low_confidence", confidence.low_confidence},
                           {"results", std::move(results)}});
}

std::string ranking_text(std::span<const Hit> hits, bool factors) {
  std::string out;
  for (const Hit& hit : hits) {
    out += fmt::format("{:.3f}  {} #{}{}\n", hit.score, text::one_line(hit.chunk.slug),
                       hit.chunk.index,
                       hit.chunk.section.empty() ? "" : "  §" + text::one_line(hit.chunk.section));
    if (!factors) continue;
    out += fmt::format("       raw {:.3f}{}  fused {:.3f}  bm25 {:.2f} {}  cosine {:.3f} {}\n",
                       hit.raw_score, hit.is_unscored ? " (not scored)" : "", hit.fused, hit.bm25,
                       rank(hit.lexical_rank), hit.cosine, rank(hit.dense_rank));
    for (const PolicyReceipt& factor : hit.factors)
      out += fmt::format("       x{:<5} {}\n", factor.factor, factor.rule);
  }
  return out;
}

std::string interests_text(std::span<const session::Interest> interests) {
  std::string out;
  for (const session::Interest& interest : interests)
    out += fmt::format("interest    {} {:.2f} ({})\n", text::one_line(interest.tag),
                       interest.weight, interest.source);
  return out;
}

std::string explain(const Turn& turn) {
  std::string out = fmt::format("route       {} (rule {})\n", to_string(turn.route), turn.rule);
  if (!turn.intent.name.empty()) out += fmt::format("intent      {}\n", turn.intent.name);
  if (turn.ranked.empty()) return out + "no search was run.\n";
  out += fmt::format("confidence  {}{}\n", to_string(turn.confidence),
                     turn.low_confidence ? ", low" : "");
  if (!turn.reranker_error.empty())
    out += fmt::format("not ranked  {}\n", text::one_line(turn.reranker_error));
  if (!turn.topic.empty()) out += fmt::format("topic       {}\n", text::one_line(turn.topic));
  out += interests_text(turn.interests);
  return out + ranking_text(turn.ranked, true);
}

std::string explain(const TurnResult& result) {
  std::string out = explain(result.turn);
  for (const cite::Intervention& one : result.stream_result.summary.interventions)
    out += fmt::format("{:<11} {}, {}\n", cite::to_string(one.kind), one.count,
                       text::one_line(one.detail));
  return out;
}

std::string prompt_json(const Turn& turn) {
  Json messages = Json::array(), layers = Json::array(), cuts = Json::array();
  for (const Message& message : turn.prompt.messages)
    messages.push_back({{"role", message.role}, {"content", message.content}});
  for (const prompt::Layer& layer : turn.prompt.layers)
    layers.push_back({{"name", layer.name}, {"tokens", layer.tokens}});
  for (const prompt::Cut& cut : turn.prompt.cuts)
    cuts.push_back({{"slug", cut.slug},
                    {"chunk_index", cut.chunk_index},
                    {"tokens_before", cut.tokens_before},
                    {"tokens_after", cut.tokens_after}});
  return to_json_text(
      Json{{"route", to_string(turn.route)},
           {"rule", turn.rule},
           {"reply", turn.canned_reply.empty() ? Json(nullptr) : Json(turn.canned_reply)},
           {"messages", std::move(messages)},
           {"layers", std::move(layers)},
           {"cuts", std::move(cuts)},
           {"tokens", turn.prompt.tokens}});
}

std::string trace(const TurnResult& result) {
  const Turn& turn = result.turn;
  std::string out = explain(result);
  for (const auto* stages : {&turn.stages, &result.stream_result.stages})
    for (const StageTiming& stage : *stages)
      out += fmt::format("{:<11} {:.2f} ms\n", stage.name, stage.ms);
  if (result.stream_result.finish == generate::FinishReason::length)
    out += "finish      cut at max_tokens\n";
  const cite::AnswerSummary& cites = result.stream_result.summary;
  out += fmt::format("citations   {} emitted, {} dropped, {} repaired\n", cites.cited_slugs.size(),
                     cites.dropped_unknown + cites.dropped_repeated + cites.dropped_malformed,
                     cites.repaired + cites.replaced);
  for (const prompt::Cut& cut : turn.prompt.cuts)
    out += fmt::format("cut         {} #{}: {} to {} tokens\n", cut.slug, cut.chunk_index,
                       cut.tokens_before, cut.tokens_after);
  return out;
}

}  // namespace stoka::pipeline
