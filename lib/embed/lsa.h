// Latent semantic analysis (LSA): fits a vector space to a corpus in which terms that occur in
// similar chunks lie close together. Pure functions on the caller's thread: the same input gives
// the same bytes.
//
// A chunk is a column x of term weights (1 + ln tf) * idf. The columns form the matrix A. Each is
// divided by the square root of its length, so that a page of text shapes the space more than a
// lone heading does. The basis T consists of the left singular vectors of A that belong to its
// largest singular values s (Deerwester et al. 1990). They are computed by randomised subspace
// iteration (Halko, Martinsson and Tropp 2011, algorithm 4.4) from a fixed start. Each vector is
// multiplied by sqrt(s), which mutes directions that the corpus hardly uses. Both scalings were
// chosen on public test collections (tests/bench/ir.cpp). Chunks and queries are embedded alike: T'
// x scaled to unit length. So a new page can be folded in, which means that it gets its vector from
// the existing basis without a new fit.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "embed/embedder.h"

namespace stoka::embed {

struct TermCount {
  uint32_t term = 0;  // the index of the term in the vocabulary
  uint32_t count = 0;
};

// The terms of one chunk. Each term occurs once.
using ChunkTerms = std::span<const TermCount>;

struct FitOptions {
  size_t max_dim = 512;
  size_t max_chunks = 20000;  // the most chunks fitted; a larger corpus is sampled evenly
  size_t max_terms = 40000;   // the most terms used; terms in many chunks come first
};

struct BasisTerm {
  uint32_t term = 0;
  float weight = 0;           // the idf of the term
  std::vector<float> values;  // the row of T for the term: dim floats
};

struct Basis {
  int dim = 0;
  size_t fitted_chunks = 0;     // the number of fitted chunks that have a term of the basis
  std::vector<BasisTerm> rows;  // ordered by term
};

// Whether chunk `i` of `n` belongs to an even sample of at most `max` chunks.
bool is_in_sample(size_t i, size_t n, size_t max);

// Fits a basis. Its dimension is at most options.max_dim, at most half the number of chunks (or
// min(chunks, 16), if that is more), and at most the numerical rank of A. If there are 200 chunks
// or more, terms that occur in one chunk only are left out. The basis is empty (dim 0) if there is
// nothing to fit. The only error is `cancelled`.
Result<Basis> fit(std::span<const ChunkTerms> chunks, size_t vocabulary, const FitOptions& options,
                  const Progress& progress = {}, std::stop_token stop = {});

// Scales the vector to unit length. The result is empty if the values are all zero or not finite.
Vector normalized(std::span<const double> values);

// Computes the vector of a text: the sum over its terms of weight * (1 + ln count) * values, scaled
// to unit length.
class FoldInSum {
 public:
  explicit FoldInSum(int dim) : sum_(static_cast<size_t>(dim)) {}
  // Adds a term: its weight and values in the basis (dim floats) and its count in the text.
  void add(float weight, uint32_t count, std::span<const float> values);
  // Returns the sum as a vector of unit length; empty if no term was added or the sum is zero.
  Vector finish() const { return normalized(sum_); }

 private:
  std::vector<double> sum_;
};

}  // namespace stoka::embed
