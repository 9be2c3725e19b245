// Ranking by BM25 over posting lists in memory. The functions are pure and thread safe.
//
// Chunk ids are grouped in posting blocks of kBlockIds. A scan adds up one block at a time, so that
// its sums stay in the first-level cache and gaps in the ids cost nothing. These sums are floats.
// All chunks that may be among the best are then scored again in double precision, term by term in
// the order of the query, so that the result is exactly that of the formula.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/bm25.h"
#include "search/top_scores.h"

namespace stoka::search {

inline constexpr int64_t kBlockIds = 1024;

// The postings of one term, stored as columns.
class TermColumn {
 public:
  // Converts postings to columns. The ids must be ascending and not negative.
  TermColumn(std::span<const Posting> postings, double average_length, const Bm25Params& params);

  size_t size() const { return offsets_.size(); }
  size_t bytes() const;  // the approximate memory use

 private:
  struct Block {
    int64_t number = 0;  // the number of the block: chunk id / kBlockIds
    uint32_t begin = 0;  // where the block begins in the columns
    uint32_t end = 0;
    float max_weight = 0;
  };
  struct Count {
    uint32_t tf = 0;
    uint32_t length = 0;
  };
  friend class Scan;

  std::vector<Block> blocks_;
  std::vector<uint16_t> offsets_;  // chunk ids modulo kBlockIds
  std::vector<float> weights_;     // values of the function term_weight()
  std::vector<Count> counts_;
};

// One term of a query. `factor` is its idf times its weight in the query. A term whose factor is
// not above 0 is ignored.
struct ScanTerm {
  const TermColumn* column = nullptr;
  double factor = 0;
};

// Returns the k best chunks that contain any of the terms, and all further chunks whose score
// equals the k-th; best first, ties by id. `skip` holds ids to leave out, ascending. average_length
// and params must be those of the columns.
std::vector<Scored> scan(std::span<const ScanTerm> query, double average_length,
                         const Bm25Params& params, size_t k, std::span<const int64_t> skip = {});

}  // namespace stoka::search
