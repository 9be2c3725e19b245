// The built-in embedder: latent semantic vectors over the terms of the index, without network or
// model. The basis lives in the store beside the index; see embed/lsa.h for what it is.
#pragma once

#include <map>
#include <optional>

#include "embed/embedder.h"
#include "embed/lsa.h"
#include "store/store.h"

namespace stoka::embed {

// Recorded as IndexIdentity::embedder.
inline constexpr std::string_view kBuiltinName = "builtin-lsa";

// Terms of a text with their counts, by term: what ChunkRecord::terms and fold() take.
std::vector<store::TermCount> count_terms(std::string_view text);

// Reads of the store only the basis rows that a text needs and keeps none, so that a refit by
// another process is noticed at once. The store must outlive it.
class BuiltinEmbedder final : public Embedder {
 public:
  explicit BuiltinEmbedder(store::Store& store) : store_(store) {}
  std::string name() const override { return std::string(kBuiltinName); }
  Result<Identity> identity(Use, std::stop_token) override { return Identity{name(), 0}; }
  Result<Vector> embed_query(std::string_view text, std::stop_token stop) override;
  Result<Embedded> embed_documents(std::span<const std::string> texts,
                                   const EmbedProgress& progress, std::stop_token stop) override;

 private:
  store::Store& store_;
};

// Folds many chunks into the basis that is stored now, keeping rows between calls (at most about
// 40 MB). For one index run: it does not notice a refit. Not thread safe.
class Folder {
 public:
  explicit Folder(store::Store& store) : store_(store) {}
  // Empty if there is no basis or it has none of the terms.
  Result<Vector> fold(std::span<const store::TermCount> terms);

 private:
  using Known = std::map<std::string, std::optional<store::BasisRow>, std::less<>>;
  store::Store& store_;
  Known known_;
};

// The end of an index run. Fits a new basis and replaces every vector when there is no basis, or
// when more than a fifth of the fitted chunks have changed since; true if it did. An index without
// any term is left alone. Errors: the store's, or `cancelled`, which leaves the old basis in place.
Result<bool> refit_if_needed(store::Store& store, store::IndexWriter& writer,
                             const FitOptions& options, const Progress& progress = {},
                             std::stop_token stop = {});

}  // namespace stoka::embed
