// Text to unit vectors.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::embed {

using Vector = std::vector<float>;  // unit length, or empty where a text has no vector

// Threads: any member from any thread.
class Embedder {
 public:
  virtual ~Embedder() = default;
  // Identity recorded in the index: "builtin-lsa", "tei:model@sha".
  virtual std::string name() const = 0;
  // Empty when the text shares nothing with what the embedder knows (built in only).
  virtual Result<Vector> embed_query(std::string_view text, std::stop_token stop) = 0;
  // One vector a text, in order.
  virtual Result<std::vector<Vector>> embed_documents(std::span<const std::string> texts,
                                                      std::stop_token stop) = 0;
};

}  // namespace stoka::embed
