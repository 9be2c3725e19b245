#include "embed/embedder.h"

namespace stoka::embed {
namespace {

class TextIndexEmbedder final : public IndexEmbedder {
 public:
  explicit TextIndexEmbedder(Embedder& embedder) : embedder_(embedder) {}
  Result<Embeddings> embed(std::span<const std::string> texts, const TermsOfText&,
                           const EmbedProgress& progress, std::stop_token stop) override {
    return embedder_.embed_documents(texts, progress, stop);
  }

 private:
  Embedder& embedder_;
};

}  // namespace

std::unique_ptr<IndexEmbedder> Embedder::index_embedder() {
  return std::make_unique<TextIndexEmbedder>(*this);
}

}  // namespace stoka::embed
