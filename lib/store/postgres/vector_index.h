// The HNSW index over the embeddings. The column has no fixed dimension, so the index is over a
// cast to one: ordering by the same cast uses the index, ordering by the bare column is exact. The
// index has half precision if pgvector supports it (0.7 and later), which takes half the space;
// candidates are scored again with full vectors anyway.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"

namespace stoka::store::postgres {

// The type that vectors are cast to, "halfvec(1024)" or "vector(1024)"; empty if pgvector cannot
// index that dimension.
std::string indexed_type(const Extension& extension, uint64_t dim);

// Creates the index unless it exists or the dimension cannot be indexed. The index is partial: a
// query needs the condition "vector_dims(embedding) = dim" to use it.
Result<> create_vector_index(Connection& connection, const Extension& extension, uint64_t dim);
// Drops the index unless it has the type `unless`. The drop waits for running readers, and new
// readers wait for the drop.
Result<> drop_vector_index(Connection& connection, std::string_view unless = {});

}  // namespace stoka::store::postgres
