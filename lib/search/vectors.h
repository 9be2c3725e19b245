// Exact similarity search over float32 vectors in memory. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::search {

struct Scored {
  int64_t id = 0;
  double score = 0;
};

// Best first; ties by lower id, so the same input gives the same order.
bool better(const Scored& a, const Scored& b);

// Sum of products. The compiler vectorises it; the widest instruction set of this machine is chosen
// at run time. Lanes are summed in a fixed order, so one machine always gives the same sum.
float dot(const float* a, const float* b, size_t n);

// Row-major unit vectors with their ids. The cosine of unit vectors is their dot product.
struct VectorTable {
  size_t dim = 0;
  std::vector<int64_t> ids;
  std::vector<float> values;  // ids.size() * dim
  size_t size() const { return ids.size(); }
  std::span<const float> row(size_t i) const { return {values.data() + i * dim, dim}; }
};

// The k rows nearest to the query by dot product, best first. `skip` rows (sorted indexes) are left
// out.
std::vector<Scored> top_k(const VectorTable& table, std::span<const float> query, size_t k,
                          std::span<const size_t> skip = {});

// The same, and every further row whose score equals the k-th: for callers that break ties their
// own way.
std::vector<Scored> top_k_with_ties(const VectorTable& table, std::span<const float> query,
                                    size_t k, std::span<const size_t> skip = {});

// Scales to unit length. False (and unchanged) if the norm is zero or not finite.
bool normalize(std::span<float> vector);

// Little-endian float32 bytes, as stores keep them. Empty result if the size is not 4 * dim.
std::string to_bytes(std::span<const float> vector);
std::vector<float> from_bytes(std::string_view bytes, size_t dim);

}  // namespace stoka::search
