// The interface of embedders: text in, unit vectors out.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace stoka::embed {

using Vector = std::vector<float>;  // scaled to unit length; empty if the text has no vector

// The identity of a model. An index can be searched only with vectors of the model that made it.
struct Identity {
  std::string name;  // "builtin-lsa", "tei:BAAI/bge-m3@5617a9f6", "openai:nomic-embed-text"
  int dim = 0;       // the dimension; 0 if it is not fixed (built-in embedder)
  bool operator==(const Identity&) const = default;
};

// The vectors of several texts, in the order of the texts. A text that the model refuses has an
// empty vector and a warning.
struct Embeddings {
  struct Warning {
    size_t text = 0;      // index of the text
    std::string message;  // "refused: …", "longer than the model reads: embedded in 2 parts"
  };
  std::vector<Vector> vectors;
  std::vector<Warning> warnings;
};

// What the text is. A visitor waits for the vector of a query, so it has a short deadline;
// documents are embedded by index runs, which have time.
enum class InputType { document, query };

// Called with the number of texts that are done. The function may be empty.
using EmbedProgress = std::function<void(size_t done)>;
// Called on the caller's thread with the share of the work that is done. The function may be empty.
using Progress = std::function<void(double)>;

// Returns the terms of a text with their counts. The index of the text is given.
using TermsOfText = std::function<std::span<const store::TermCount>(size_t text)>;

// Embeds the chunks of one index run. Not thread safe. The embedder must outlive it.
class IndexEmbedder {
 public:
  virtual ~IndexEmbedder() = default;
  // As Embedder::embed_documents(). `terms` is called only by an embedder that reads terms instead
  // of the text.
  virtual Result<Embeddings> embed(std::span<const std::string> texts, const TermsOfText& terms,
                                   const EmbedProgress& progress, std::stop_token stop) = 0;
  // Called when all documents are written. Returns whether the vectors of the index were replaced.
  virtual Result<bool> finish(store::IndexWriter&, const Progress&, std::stop_token) {
    return false;
  }
};

// All members may be called from any thread. Embedders that ask a server return the errors
// unavailable, timeout, protocol, busy, cancelled, and config (the server does not accept the key
// or does not have the model).
class Embedder {
 public:
  virtual ~Embedder() = default;
  // A name to show to people: "builtin-lsa", "tei at http://localhost:8072". Sends no request.
  virtual std::string name() const = 0;
  // The identity of the model. May ask the server; the answer is cached for a minute.
  virtual Result<Identity> identity(InputType type, std::stop_token stop) = 0;
  // Embeds the text as it is; the caller adds the prefix that a model may need. The vector is empty
  // if the text has no term that the embedder knows (built-in embedder only).
  virtual Result<Vector> embed_query(std::string_view text, std::stop_token stop) = 0;
  virtual Result<Embeddings> embed_documents(std::span<const std::string> texts,
                                             const EmbedProgress& progress,
                                             std::stop_token stop) = 0;
  // Whether its vectors are computed from what the index contains, not by a model. They cost almost
  // nothing, and what a model is told about a chunk besides its terms does not matter.
  virtual bool is_fitted_to_index() const { return false; }
  // The default implementation passes the texts to embed_documents().
  virtual std::unique_ptr<IndexEmbedder> index_embedder();
};

}  // namespace stoka::embed
