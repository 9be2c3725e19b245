// Exact similarity search over float32 vectors in memory. The functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/top_scores.h"

namespace stoka::search {

// The dot product of two vectors of n floats. The fastest instruction set of the machine is chosen
// at run time. Additions are done in the same order with every instruction set, so the result is
// always the same to the last bit.
float dot(const float* a, const float* b, size_t n);

// Unit vectors with their ids, in row-major order. The dot product of unit vectors is their cosine.
struct VectorTable {
  size_t dim = 0;
  std::vector<int64_t> ids;
  std::vector<float> values;  // the numbers of all vectors, ids.size() * dim of them
  size_t size() const { return ids.size(); }
  std::span<const float> row(size_t i) const { return {values.data() + i * dim, dim}; }
};

// Returns the k rows with the largest dot product with the query, best first, and all further rows
// whose score equals the k-th, so that the caller can break ties in its own way. Rows in `skip`
// (ascending row numbers) are left out. A query of another dimension finds nothing.
std::vector<Scored> top_k_with_ties(const VectorTable& table, std::span<const float> query,
                                    size_t k, std::span<const size_t> skip = {});

// Scales the vector to unit length. Returns false and changes nothing if its norm is zero or not
// finite.
bool normalize(std::span<float> vector);

// Vectors as the stores keep them: little-endian float32. from_bytes() returns an empty vector if
// the size is not 4 * dim.
std::string encode_vector(std::span<const float> vector);
std::vector<float> decode_vector(std::string_view bytes, size_t dim);

}  // namespace stoka::search
