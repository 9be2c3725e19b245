// Text to unit vectors.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::embed {

using Vector = std::vector<float>;  // unit length, or empty where a text has no vector

// What an index is made with. Searching it with anything else is refused.
struct Identity {
  std::string name;  // "builtin-lsa", "tei:BAAI/bge-m3@5617a9f6", "openai:nomic-embed-text"
  int dim = 0;       // 0: not fixed (built in)
  bool operator==(const Identity&) const = default;
};

// Vectors of texts, in their order. A text that the model refuses has an empty vector and a note.
struct Embedded {
  struct Note {
    size_t text = 0;   // index
    std::string what;  // "refused: …", "longer than the model reads: embedded in 2 parts"
  };
  std::vector<Vector> vectors;
  std::vector<Note> notes;
};

// What vectors are wanted for: a question is waited for by a visitor, an index run has time.
enum class Use { document, query };

// Called with how many of the texts are done. May be empty.
using EmbedProgress = std::function<void(size_t done)>;

// Threads: any member from any thread. Errors of the ones that ask a server: unavailable, timeout,
// protocol, busy, config (a key or a model that the server does not take), cancelled.
class Embedder {
 public:
  virtual ~Embedder() = default;
  // For people: "builtin-lsa", "tei at http://localhost:8072". Asks nobody.
  virtual std::string name() const = 0;
  // May ask the server; remembered for a while.
  virtual Result<Identity> identity(Use use, std::stop_token stop) = 0;
  // The text is embedded as it is: a prefix is the caller's. Empty when the text shares nothing
  // with what the embedder knows (built in only).
  virtual Result<Vector> embed_query(std::string_view text, std::stop_token stop) = 0;
  virtual Result<Embedded> embed_documents(std::span<const std::string> texts,
                                           const EmbedProgress& progress, std::stop_token stop) = 0;
};

}  // namespace stoka::embed
