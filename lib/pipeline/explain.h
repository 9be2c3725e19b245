// Why an answer came out as it did, for people and for scripts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "pipeline/turn.h"

namespace stoka::pipeline {

// {"query","confidence","low_confidence","results":[{"slug","chunk_index","title","type","raw","score",
//  "factors":[{"rule","factor"}]}]}
std::string ranking_json(std::string_view query, const rerank::Verdict& verdict,
                         std::span<const Hit> hits);

// One hit a line: score, slug, section; with `factors`, below it the scores of every stage and each
// rule that touched it. Untrusted text is cleaned.
std::string ranking_text(std::span<const Hit> hits, bool factors);

// One interest a line, with its weight and where it comes from.
std::string interests_text(std::span<const session::Interest> interests);

// Route, rule, confidence, interests and ranking of a turn, several lines.
std::string explain(const Turn& turn);

// The assembled messages of a turn: {"route","rule","reply","messages":[{"role","content"}],
//  "layers":[{"name","tokens"}],"cuts":[{"slug","chunk_index","tokens_before","tokens_after"}],"tokens"}
std::string prompt_json(const Turn& turn);

// Stage timings, scores and what became of the citations: several lines, for --trace.
std::string trace(const Outcome& outcome);

}  // namespace stoka::pipeline
