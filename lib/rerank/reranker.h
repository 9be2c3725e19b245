// Scores how well a chunk answers a question, in [0,1].
#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/hit.h"

namespace stoka::rerank {

// One score a hit, in the order given. Nothing: the reranker left it out or could not score it;
// such a hit keeps the place retrieval gave it.
using Scores = std::vector<std::optional<double>>;

class Reranker {
 public:
  virtual ~Reranker() = default;
  // For people: "builtin", "tei at http://localhost:8073". Asks nobody.
  virtual std::string name() const = 0;
  // Reads chunk and cosine of each hit; hits are best fused first. At least one score is there, or
  // it is an error.
  virtual Result<Scores> score(std::string_view query, std::span<const Hit> hits,
                               std::stop_token stop) = 0;
};

}  // namespace stoka::rerank
