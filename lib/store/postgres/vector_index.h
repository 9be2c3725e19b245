// The HNSW index over the embeddings. The column has no dimension of its own, so the index is over
// an expression that gives it one: searching by the same expression uses it, searching by the bare
// column is exact. Half precision where pgvector has it (0.7): half the size, and candidates are
// scored again in full precision anyway.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"

namespace stoka::store::postgres {

// "halfvec(1024)" or "vector(1024)"; empty if this pgvector cannot index that dimension.
std::string indexed_type(const Extension& extension, uint64_t dim);

// Makes the index if there is none and it can be made. Searching by that expression uses it only
// where it says "vector_dims(embedding) = dim" too.
Result<> make_vector_index(Connection& connection, const Extension& extension, uint64_t dim);
// Drops it unless it is of that type. Whoever reads waits while this waits for those who read.
Result<> drop_vector_index(Connection& connection, std::string_view unless = {});

}  // namespace stoka::store::postgres
