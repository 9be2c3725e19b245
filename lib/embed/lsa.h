// Latent semantic vectors: a term space fitted to a corpus, in which words that occur in the same
// company lie close together. Pure and single-threaded: the same input gives the same bytes.
//
// A chunk is a column x of weights (1 + ln tf) * idf; the columns, each divided by the square root
// of its length so that a page of text shapes the space more than a lone heading, form A. The basis
// T holds the left singular vectors of A that belong to its largest singular values s (Deerwester
// et al. 1990), found by randomised subspace iteration (Halko, Martinsson and Tropp 2011,
// algorithm 4.4) from a fixed start, each times sqrt(s), which mutes directions that the corpus
// hardly uses. Both scalings were chosen on public test collections (tests/bench/ir.cpp). Chunks
// and questions are embedded alike, as T' x scaled to unit length, so a new page needs no refit: it
// is folded in.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "embed/embedder.h"

namespace stoka::embed {

struct TermCount {
  uint32_t term = 0;  // index into the vocabulary
  uint32_t count = 0;
};

// Terms of a chunk, each once.
using Row = std::span<const TermCount>;

struct FitOptions {
  size_t max_dim = 512;
  size_t max_chunks = 20000;  // above it an even sample is fitted
  size_t max_terms = 40000;   // the most frequent by chunks; bounds memory
};

struct BasisTerm {
  uint32_t term = 0;
  float weight = 0;           // idf
  std::vector<float> values;  // dim floats
};

struct Basis {
  int dim = 0;
  size_t fitted_chunks = 0;     // chunks that had any term
  std::vector<BasisTerm> rows;  // by term
};

// Share of the work done, in [0,1]. Called on the caller's thread.
using Progress = std::function<void(double)>;

// Whether chunk `i` of `n` belongs to an even sample of at most `max` chunks.
bool sampled(size_t i, size_t n, size_t max);

// Dimensions are at most options.max_dim, about half the number of chunks (a handful of chunks
// keeps one each) and the numerical rank. Terms that occur in one chunk only are left out from 200
// chunks on. An empty basis (dim 0) if there is nothing to fit. The only error is `cancelled`.
Result<Basis> fit(std::span<const Row> chunks, size_t vocabulary, const FitOptions& options,
                  const Progress& progress = {}, std::stop_token stop = {});

// Sums weight * (1 + ln count) * values over the terms of a text.
class FoldIn {
 public:
  explicit FoldIn(int dim) : sum_(static_cast<size_t>(dim)) {}
  // `values` must have dim floats.
  void add(float weight, uint32_t count, std::span<const float> values);
  // Unit length; empty if no term was added or the sum vanishes.
  Vector finish() const;

 private:
  std::vector<double> sum_;
};

}  // namespace stoka::embed
