// Embeds many texts through a server that limits the size of a request and may refuse texts.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "embed/embedder.h"

namespace stoka::embed {

struct BatchLimits {
  size_t max_texts = 32;         // the most texts in one request
  size_t max_bytes = 1'900'000;  // the most bytes of JSON for the texts in one request
};

// The server refused a request in a way that suggests that fewer or shorter texts may succeed.
struct BatchRefusal {
  std::string message;       // the error message in the server's words
  bool is_too_long = false;  // a text has more tokens than the model accepts
  Error error;               // the error to return if the server turns out to refuse every request
};

// The result for a batch: one vector for each text, all of the same dimension, or a refusal.
using BatchReply = tl::expected<std::vector<Vector>, BatchRefusal>;
// Sends one request. An Error (as opposed to a refusal) ends the whole run.
using SendBatch = std::function<Result<BatchReply>(std::span<const std::string> texts)>;

// A text that every embedding model accepts. If the server refuses it, the server refuses every
// request.
inline constexpr std::string_view kProbeText = "a plain sentence.";

// Embeds texts. A refused batch is halved until the refused text stands alone, and that text gets a
// warning. A text that is too long is split in half at white space, again and again, six times at
// most; its vector is the mean of its parts' vectors, weighted by length and scaled to unit length.
// A text without a word gets a warning and is not sent. If the server refuses the probe text as
// well, the error of its refusal is returned.
Result<Embeddings> embed_in_batches(std::span<const std::string> texts, const BatchLimits& limits,
                                    const SendBatch& send, const EmbedProgress& progress);

}  // namespace stoka::embed
