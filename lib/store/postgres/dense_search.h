// Searches by vector: exactly in a small index, through the HNSW index in a large one. Scores are
// always computed in this process from the full vectors, so that all stores agree on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "store/index_reader.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"

namespace stoka::store::postgres {

// Up to this number of vectors (after the filter) all of them are compared, which is fast enough.
inline constexpr uint64_t kMaxExactVectors = 5000;
// The setting hnsw.ef_search, the size of the candidate list. A larger list has better recall and
// takes longer; pgvector allows up to 1000.
inline constexpr size_t kEfSearch = 400;
inline constexpr size_t kMaxEfSearch = 1000;
// How many candidates are scored with full vectors for k results: the index may have half
// precision.
constexpr size_t candidate_count(size_t k) { return k + 32; }
// The setting hnsw.max_scan_tuples: how many rows a search visits to find enough that pass the
// filter. If too few are found, all vectors are compared.
inline constexpr size_t kMaxScanTuples = 40000;

// Implements IndexReader::search_dense. The caller's transaction must see one snapshot.
Result<std::vector<ScoredChunk>> search_dense(Connection& connection, const Extension& extension,
                                              std::span<const float> query, size_t k,
                                              const SearchFilter& filter);

}  // namespace stoka::store::postgres
