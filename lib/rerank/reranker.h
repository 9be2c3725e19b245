// Scores how well a chunk answers a question, in [0,1].
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/hit.h"

namespace stoka::rerank {

class Reranker {
 public:
  virtual ~Reranker() = default;
  virtual std::string name() const = 0;
  // One score a hit, in the order given. Reads chunk and cosine of each hit.
  virtual Result<std::vector<double>> score(std::string_view query, std::span<const Hit> hits,
                                            std::stop_token stop) = 0;
};

}  // namespace stoka::rerank
