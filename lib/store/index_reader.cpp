#include "store/index_reader.h"

namespace stoka::store {

std::optional<IdentityMismatch> find_mismatch(const IndexIdentity& made_with,
                                              const IndexIdentity& wanted) {
  if (made_with.embedder != wanted.embedder)
    return IdentityMismatch{"embedder", made_with.embedder, wanted.embedder};
  if (wanted.dim != 0 && made_with.dim != 0 && made_with.dim != wanted.dim)
    return IdentityMismatch{"dimension", std::to_string(made_with.dim), std::to_string(wanted.dim)};
  if (made_with.chunker != wanted.chunker)
    return IdentityMismatch{"chunker", made_with.chunker, wanted.chunker};
  if (made_with.query_prefix != wanted.query_prefix)
    return IdentityMismatch{"query prefix", made_with.query_prefix, wanted.query_prefix};
  if (made_with.document_template != wanted.document_template)
    return IdentityMismatch{"document template", made_with.document_template,
                            wanted.document_template};
  return std::nullopt;
}

}  // namespace stoka::store
