#include "search/vectors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace stoka::search {
namespace {

constexpr size_t kLanes = 32;

// Adds the products in the same lanes and order with every instruction set, so that all of them
// give the same result to the last bit.
[[gnu::always_inline]] inline float lane_dot(const float* a, const float* b, size_t n) {
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  for (size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += a[i] * b[i];
  for (size_t width = kLanes / 2; width > 0; width /= 2) {
    for (size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

float dot_baseline(const float* a, const float* b, size_t n) { return lane_dot(a, b, n); }

using Dot = float (*)(const float*, const float*, size_t);

#if defined(__x86_64__)
[[gnu::target("avx2")]] float dot_avx2(const float* a, const float* b, size_t n) {
  return lane_dot(a, b, n);
}

// The attribute target_clones is not used, because its ifunc resolver runs before the sanitizers
// are initialised.
Dot choose_dot() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") ? dot_avx2 : dot_baseline;
}
#else
Dot choose_dot() { return dot_baseline; }
#endif

Dot widest_dot() {
  static const Dot chosen = choose_dot();
  return chosen;
}

}  // namespace

float dot(const float* a, const float* b, size_t n) { return widest_dot()(a, b, n); }

std::vector<Scored> top_k_with_ties(const VectorTable& table, std::span<const float> query,
                                    size_t k, std::span<const size_t> skip) {
  if (k == 0 || query.size() != table.dim) return {};
  const Dot product = widest_dot();
  TopScores best(k, 0);
  size_t next_skip = 0;
  for (size_t row = 0; row < table.size(); ++row) {
    if (next_skip < skip.size() && skip[next_skip] == row) {
      while (next_skip < skip.size() && skip[next_skip] == row) ++next_skip;
      continue;
    }
    best.offer(product(table.values.data() + row * table.dim, query.data(), table.dim),
               table.ids[row]);
  }
  std::vector<Scored> found = best.take();
  std::sort(found.begin(), found.end(), ranks_before);
  return found;
}

bool normalize(std::span<float> vector) {
  double squares = 0;
  for (const float value : vector) squares += static_cast<double>(value) * value;
  const double norm = std::sqrt(squares);
  if (!(norm > 0) || !std::isfinite(norm)) return false;
  for (float& value : vector) value = static_cast<float>(value / norm);
  return true;
}

std::string encode_vector(std::span<const float> vector) {
  std::string bytes(vector.size() * sizeof(float), '\0');
  if constexpr (std::endian::native == std::endian::little) {
    if (!vector.empty()) std::memcpy(bytes.data(), vector.data(), bytes.size());
  } else {
    for (size_t i = 0; i < vector.size(); ++i) {
      const auto bits = std::bit_cast<uint32_t>(vector[i]);
      for (size_t b = 0; b < 4; ++b) bytes[4 * i + b] = static_cast<char>(bits >> (8 * b));
    }
  }
  return bytes;
}

std::vector<float> decode_vector(std::string_view bytes, size_t dim) {
  if (bytes.size() != dim * sizeof(float)) return {};
  std::vector<float> vector(dim);
  if constexpr (std::endian::native == std::endian::little) {
    if (dim > 0) std::memcpy(vector.data(), bytes.data(), bytes.size());
  } else {
    for (size_t i = 0; i < dim; ++i) {
      uint32_t bits = 0;
      for (size_t b = 0; b < 4; ++b) {
        bits |= uint32_t{static_cast<unsigned char>(bytes[4 * i + b])} << (8 * b);
      }
      vector[i] = std::bit_cast<float>(bits);
    }
  }
  return vector;
}

}  // namespace stoka::search
