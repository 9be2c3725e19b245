// The interface of rerankers, which score how well a chunk answers a question.
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

// One score in [0,1] for each hit, in the order of the hits. A hit that the reranker left out or
// could not score has none; it keeps the place that retrieval gave it.
using Scores = std::vector<std::optional<double>>;

// A reranker. All members may be called from any thread.
class Reranker {
 public:
  virtual ~Reranker() = default;
  // A name to show to people: "builtin", "tei at http://localhost:8073". Sends no request.
  virtual std::string name() const = 0;
  // Reads the chunk and the cosine of each hit. The hits must be ordered by fused score. At least
  // one hit gets a score; otherwise an error is returned.
  virtual Result<Scores> score(std::string_view query, std::span<const Hit> hits,
                               std::stop_token stop) = 0;
};

}  // namespace stoka::rerank
