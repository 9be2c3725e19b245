// The interface of embedders, which turn text into vectors of unit length.
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

// Whether a text is a query or a document. A visitor waits for the vector of a query, so a query
// has a short deadline; documents are embedded by index runs, which have time.
enum class InputType { document, query };

// A function to call with the number of texts that are embedded; may be empty.
using EmbedProgress = std::function<void(size_t done)>;
// A function to call with the share of the work done, on the caller's thread; may be empty.
using Progress = std::function<void(double)>;

// A function that returns the terms of a text with their counts, given the index of the text.
using TermsOfText = std::function<std::span<const store::TermCount>(size_t text)>;

// Embeds the chunks of one index run. Not thread safe. The embedder must outlive the object.
class IndexEmbedder {
 public:
  virtual ~IndexEmbedder() = default;
  // Does the same as Embedder::embed_documents(). `terms` is called only by an embedder that reads
  // terms instead of the text.
  virtual Result<Embeddings> embed(std::span<const std::string> texts, const TermsOfText& terms,
                                   const EmbedProgress& progress, std::stop_token stop) = 0;
  // Must be called after all documents are written. Returns whether the vectors were replaced.
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
  // Returns the identity of the model, which may be asked of the server and is cached for a minute.
  virtual Result<Identity> identity(InputType type, std::stop_token stop) = 0;
  // Embeds a query without changes; the caller adds the prefix that a model may need. The vector is
  // empty if the text has no term that the embedder knows (built-in embedder only).
  virtual Result<Vector> embed_query(std::string_view text, std::stop_token stop) = 0;
  virtual Result<Embeddings> embed_documents(std::span<const std::string> texts,
                                             const EmbedProgress& progress,
                                             std::stop_token stop) = 0;
  // Whether the vectors are computed from the index and not by a model. Such vectors cost almost
  // nothing, and they depend only on the terms of a chunk.
  virtual bool is_fitted_to_index() const { return false; }
  // Returns an object that embeds for one index run; by default, it calls embed_documents().
  virtual std::unique_ptr<IndexEmbedder> index_embedder();
};

}  // namespace stoka::embed
