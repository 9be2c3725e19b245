// Many texts through a server that takes a few at a time and refuses some.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "embed/embedder.h"

namespace stoka::embed {

struct BatchLimits {
  size_t texts = 32;         // a request
  size_t bytes = 1'900'000;  // of the texts as JSON
};

// Why a server gives no vectors for a request, where asking for fewer or shorter texts may help.
struct Refusal {
  std::string what;       // in the server's words
  bool too_long = false;  // a text is longer than the model reads
  Error error;            // what it means should the server refuse everything
};

// One vector a text, all of the same dimension. The errors of an Ask end the whole run.
using Reply = tl::expected<std::vector<Vector>, Refusal>;
using Ask = std::function<Result<Reply>(std::span<const std::string> texts)>;

// What any model reads: tells a server that refuses a text from one that refuses everything.
inline constexpr std::string_view kProbe = "a plain sentence.";

// A refused batch is halved until the text is found that is to blame. That one is noted; if it is
// too long, it is halved in turn, at white space, six times at most, and gets the mean of its
// parts, by their length. A text without a word is noted and not asked for. If the server refuses
// the probe too, its refusal is the error.
Result<Embedded> embed_in_batches(std::span<const std::string> texts, const BatchLimits& limits,
                                  const Ask& ask, const EmbedProgress& progress);

}  // namespace stoka::embed
