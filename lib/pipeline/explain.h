// Describes how an answer came about, as text for people and as JSON for scripts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "pipeline/turn.h"

namespace stoka::pipeline {

// Writes
// {"query","confidence","low_confidence","results":[{"slug","chunk_index","title","type","raw","score",
// "factors":[{"rule","factor"}]}]}.
std::string ranking_json(std::string_view query, const rerank::ConfidenceResult& confidence,
                         std::span<const Hit> hits);

// One line for each hit: score, slug, section. With `factors`, lines below it give the scores of
// every stage and each policy rule that applied. Control characters are removed from indexed text.
std::string ranking_text(std::span<const Hit> hits, bool factors);

// One line for each interest, with its weight and its source.
std::string interests_text(std::span<const session::Interest> interests);

// Describes a turn in several lines: route, rule, confidence, interests and ranking.
std::string explain(const Turn& turn);

// Describes a turn, and each kind of change to a model's answer with its number and first case.
std::string explain(const TurnResult& result);

// The prompt of a turn: {"route","rule","reply","messages":[{"role","content"}],
//  "layers":[{"name","tokens"}],"cuts":[{"slug","chunk_index","tokens_before","tokens_after"}],"tokens"}
std::string prompt_json(const Turn& turn);

// Several lines for --trace: explain(), the time of each stage, and counts of the citations.
std::string trace(const TurnResult& result);

}  // namespace stoka::pipeline
