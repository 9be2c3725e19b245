// Scores as servers send them, made into scores as the pipeline takes them.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "rerank/reranker.h"

namespace stoka::rerank {

// One score a text of the request: a list of {"index", "score" or "relevance_score"}, bare or under
// "results" or "data", in any order. Nothing where the server left a text out, or sent null, no
// number or its mark of failure (below -1e5). What is wrong with an answer is the end of a
// sentence: "sent index 3 twice".
tl::expected<Scores, std::string> read_scores(std::string_view body, size_t texts);

// If any score lies outside [0,1] they are logits, and each becomes its sigmoid. What lies outside
// by no more than 0.001 is rounded, and put back inside.
void squash_logits(Scores& scores);

}  // namespace stoka::rerank
