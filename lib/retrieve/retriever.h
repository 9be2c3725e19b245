// From a question to the chunks worth reranking: the lexical and the dense search of the store,
// fused.
#pragma once

#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/hit.h"
#include "retrieve/fusion.h"
#include "store/store.h"

namespace stoka::retrieve {

enum class Mode { dense, lexical, hybrid };

struct RetrieveOptions {
  Mode mode = Mode::hybrid;
  FusionOptions fusion;
  size_t lexical_k = 100;
  size_t dense_k = 100;
  size_t candidates = 20;
};

struct Query {
  std::string text;
  std::vector<float> vector;  // embedding of the text; empty: it has none
  // Last topic of the session, for a question that follows up. Its words join the lexical query
  // with weight 0.3, and the fused score of a chunk tagged with it is multiplied by 1.10.
  std::string bias_topic;
  std::set<std::string, std::less<>> exclude_slugs;
  // Tag and weight in [0,1]. A chunk's fused score is multiplied by 1 + 0.05 * w, where w is its
  // heaviest tag.
  std::vector<std::pair<std::string, double>> interests;
};

// At most options.candidates hits, best fused score first; ties by slug, then chunk index. Fills
// the retrieve fields of Hit; the cosine is the true one even for a chunk that only the lexical
// search found. Without a query vector or without stored vectors hybrid is the lexical list alone,
// and dense finds nothing. Errors: the store's, or `cancelled`.
Result<std::vector<Hit>> retrieve(store::Store& store, const Query& query,
                                  const RetrieveOptions& options, std::stop_token stop = {});

// The terms of a text, each once, weighted by how often it occurs; the topic's by 0.3 where the
// text does not have them.
std::vector<store::QueryTerm> query_terms(std::string_view text, std::string_view topic = {});

}  // namespace stoka::retrieve
