#include "store/store.h"

namespace stoka::store {

std::optional<IdentityDifference> difference(const IndexIdentity& made_with,
                                             const IndexIdentity& wanted) {
  if (made_with.embedder != wanted.embedder)
    return IdentityDifference{"embedder", made_with.embedder, wanted.embedder};
  if (wanted.dim != 0 && made_with.dim != 0 && made_with.dim != wanted.dim)
    return IdentityDifference{"dimension", std::to_string(made_with.dim),
                              std::to_string(wanted.dim)};
  if (made_with.chunker != wanted.chunker)
    return IdentityDifference{"chunker", made_with.chunker, wanted.chunker};
  if (made_with.query_prefix != wanted.query_prefix)
    return IdentityDifference{"query prefix", made_with.query_prefix, wanted.query_prefix};
  if (made_with.document_template != wanted.document_template)
    return IdentityDifference{"document template", made_with.document_template,
                              wanted.document_template};
  return std::nullopt;
}

uint32_t ChunkRecord::length() const {
  uint32_t sum = 0;
  for (const TermCount& term : terms) sum += term.count;
  return sum;
}

}  // namespace stoka::store
