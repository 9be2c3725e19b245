// Reads the response of a rerank server and maps its scores to [0,1].
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "rerank/reranker.h"

namespace stoka::rerank {

// Returns one score for each text of the request. The body is a list of {"index", "score" or
// "relevance_score"} in any order, at the top level or under "results" or "data". A text has no
// score if the server left it out or sent null, something that is not a number, or a value below
// -1e5, with which servers mark a failure. The error is the end of a sentence: "sent index 3
// twice".
tl::expected<Scores, std::string> parse_scores(std::string_view body, size_t texts);

// If a score is outside [0,1] by more than 0.001, the scores are logits, and each is replaced by
// its sigmoid. Otherwise the scores are clamped to [0,1], since a small excess is a rounding error.
void normalize_scores(Scores& scores);

}  // namespace stoka::rerank
