// Search by vector: exact in a small index, through the HNSW index in a large one. Scores are
// always those of the full vectors, computed here as every store computes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/store.h"

namespace stoka::store::postgres {

// Up to so many vectors, as the filter leaves them, all are compared: that takes no longer than it
// is worth.
inline constexpr uint64_t kExactUpTo = 5000;
// hnsw.ef_search: how many candidates a search keeps. More finds more of the true neighbours, and
// takes longer; 1000 is the most that pgvector allows.
inline constexpr size_t kSearchWidth = 400;
inline constexpr size_t kMostWidth = 1000;
// How many candidates are scored in full for k results: the index knows half precision only.
constexpr size_t over_fetch(size_t k) { return k + 32; }
// hnsw.max_scan_tuples: how far a search goes on for rows that a filter leaves; then all are
// compared.
inline constexpr size_t kMostScanned = 40000;

// What Store::search_dense does, in a transaction that sees one snapshot.
Result<std::vector<ScoredChunk>> search_vectors(Connection& connection, const Extension& extension,
                                                std::span<const float> query, size_t k,
                                                const SearchFilter& filter);

}  // namespace stoka::store::postgres
