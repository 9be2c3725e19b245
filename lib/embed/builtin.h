// The built-in embedder: latent semantic analysis of the terms in the index, without a network or a
// model. The store holds the LSA basis beside the index; embed/lsa.h explains the method.
#pragma once

#include <map>
#include <optional>

#include "embed/embedder.h"
#include "embed/lsa.h"
#include "store/index_writer.h"

namespace stoka::embed {

// The value of IndexIdentity::embedder for an index with built-in vectors.
inline constexpr std::string_view kBuiltinName = "builtin-lsa";

// The terms of a text with their counts, ordered by term: the form of ChunkRecord::terms.
std::vector<store::TermCount> count_terms(std::string_view text);

// Fits a new basis at the end of an index run if there is none, or if more than a fifth of the
// fitted chunks have changed since the last fit. Then replaces every vector and returns true. An
// index without any term is not fitted. Errors: those of the store, and `cancelled`, which leaves
// the old basis in place.
Result<bool> refit_if_needed(store::IndexReader& store, store::IndexWriter& writer,
                             const FitOptions& options, const Progress& progress = {},
                             std::stop_token stop = {});

// The built-in embedder. For each text, it reads from the store only the basis rows of the text's
// terms. It caches no rows, so that a new basis from another process is used at once. The store
// must outlive the embedder.
class BuiltinEmbedder final : public Embedder {
 public:
  BuiltinEmbedder() = default;  // for use without a store: every text gets an empty vector
  explicit BuiltinEmbedder(store::IndexReader& store) : store_(&store) {}
  std::string name() const override { return std::string(kBuiltinName); }
  Result<Identity> identity(InputType, std::stop_token) override { return Identity{name(), 0}; }
  Result<Vector> embed_query(std::string_view text, std::stop_token stop) override;
  Result<Embeddings> embed_documents(std::span<const std::string> texts,
                                     const EmbedProgress& progress, std::stop_token stop) override;
  bool is_fitted_to_index() const override { return true; }
  std::unique_ptr<IndexEmbedder> index_embedder() override;

 private:
  store::IndexReader* store_ = nullptr;
};

// Computes the vectors of many chunks from the stored basis, and caches basis rows between calls
// (at most about 40 MB). Use it for one index run only, because it does not notice a new basis. Not
// thread safe. The store must outlive the object.
class FoldInEmbedder final : public IndexEmbedder {
 public:
  explicit FoldInEmbedder(store::IndexReader& store) : store_(store) {}
  // Embeds the texts without regard to stop requests, because the work takes little time.
  Result<Embeddings> embed(std::span<const std::string> texts, const TermsOfText& terms,
                           const EmbedProgress& progress, std::stop_token stop) override;
  Result<bool> finish(store::IndexWriter& writer, const Progress& progress,
                      std::stop_token stop) override {
    return refit_if_needed(store_, writer, {}, progress, stop);
  }
  // The vector is empty if there is no basis or the basis has none of the terms.
  Result<Vector> fold_in(std::span<const store::TermCount> terms);

 private:
  store::IndexReader& store_;
  // Cached rows by term; a term that the basis does not have is cached as nullopt.
  std::map<std::string, std::optional<store::BasisRow>, std::less<>> cached_rows_;
};

}  // namespace stoka::embed
