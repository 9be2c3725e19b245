// Ranking by BM25 over posting lists held in memory. Pure.
//
// Chunk ids are grouped in blocks of kBlockIds. A scan adds up one block at a time, so that its
// sums stay in the first-level cache and a gap in the ids costs nothing. Sums are float; whatever
// could be among the best is then scored again in double, term by term in query order, so that the
// result is exactly what the formula gives.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/bm25.h"
#include "search/vectors.h"

namespace stoka::search {

inline constexpr int64_t kBlockIds = 1024;

// The postings of one term, as columns.
class TermColumn {
 public:
  // Postings in ascending order of ids that are not negative.
  TermColumn(std::span<const Posting> postings, double average_length, const Bm25Params& params);

  size_t size() const { return offsets_.size(); }
  size_t bytes() const;  // of memory, about

 private:
  struct Block {
    int64_t number = 0;  // id / kBlockIds
    uint32_t begin = 0;  // its postings
    uint32_t end = 0;
    float max_weight = 0;
  };
  struct Count {
    uint32_t tf = 0;
    uint32_t length = 0;
  };
  friend class Scan;

  std::vector<Block> blocks_;
  std::vector<uint16_t> offsets_;  // id % kBlockIds
  std::vector<float> weights_;     // term_weight()
  std::vector<Count> counts_;
};

// One term of a query. `factor` is its idf times its weight in the query; only a factor above 0
// counts.
struct ScanTerm {
  const TermColumn* column = nullptr;
  double factor = 0;
};

// The k best chunks that have any of the terms and every further one whose score equals the k-th;
// best first, ties by id. `skip`: ids to leave out, ascending. average_length and params as for the
// columns.
std::vector<Scored> scan(std::span<const ScanTerm> query, double average_length,
                         const Bm25Params& params, size_t k, std::span<const int64_t> skip = {});

}  // namespace stoka::search
