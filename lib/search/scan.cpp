#include "search/scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stoka::search {

TermColumn::TermColumn(std::span<const Posting> postings, double average_length,
                       const Bm25Params& params) {
  offsets_.reserve(postings.size());
  weights_.reserve(postings.size());
  counts_.reserve(postings.size());
  for (const Posting& posting : postings) {
    const int64_t number = posting.id / kBlockIds;
    const auto at = static_cast<uint32_t>(offsets_.size());
    if (blocks_.empty() || blocks_.back().number != number) blocks_.push_back({number, at, at, 0});
    const auto weight =
        static_cast<float>(term_weight(posting.tf, posting.length, average_length, params));
    offsets_.push_back(static_cast<uint16_t>(posting.id % kBlockIds));
    weights_.push_back(weight);
    counts_.push_back({posting.tf, posting.length});
    blocks_.back().end = at + 1;
    blocks_.back().max_weight = std::max(blocks_.back().max_weight, weight);
  }
}

size_t TermColumn::bytes() const {
  return sizeof(*this) + blocks_.capacity() * sizeof(Block) +
         offsets_.capacity() * sizeof(uint16_t) + weights_.capacity() * sizeof(float) +
         counts_.capacity() * sizeof(Count);
}

class Scan {
 public:
  Scan(std::span<const ScanTerm> query, double average_length, const Bm25Params& params, size_t k,
       std::span<const int64_t> skip)
      : average_length_(average_length),
        params_(params),
        k_(k),
        skip_(skip),
        best_(k, margin(query.size())) {
    double largest = 0;
    for (const ScanTerm& term : query) {
      if (!(term.factor > 0) || !term.column || term.column->size() == 0) continue;
      cursors_.push_back({term.column, term.factor, 0, 0});
      largest = std::max(largest, term.factor);
    }
    // Factors are scaled to at most 1 and kept above zero, so that a float sum can neither overflow
    // nor lose a match.
    for (Cursor& cursor : cursors_) {
      cursor.scaled = std::max(static_cast<float>(cursor.factor / largest), 1e-20F);
    }
  }

  std::vector<Scored> run() {
    for (int64_t number = next_block(); number != kNoBlock; number = next_block())
      add_block(number);
    std::vector<Scored> found = best_.take();
    for (Scored& hit : found) hit.score = exact(hit.id);
    std::sort(found.begin(), found.end(), ranks_before);
    size_t end = std::min(k_, found.size());
    while (end > 0 && end < found.size() && found[end].score == found[end - 1].score) ++end;
    found.resize(end);
    return found;
  }

 private:
  using Block = TermColumn::Block;
  static constexpr int64_t kNoBlock = std::numeric_limits<int64_t>::max();

  struct Cursor {
    const TermColumn* column;
    double factor;
    float scaled;
    size_t block;  // the index in column->blocks_ of the next block
  };

  // An upper bound for the relative rounding error of a float sum of `terms` products.
  static double margin(size_t terms) { return 1e-6 * static_cast<double>(terms + 8); }

  int64_t next_block() const {
    int64_t number = kNoBlock;
    for (const Cursor& cursor : cursors_) {
      const auto& blocks = cursor.column->blocks_;
      if (cursor.block < blocks.size()) number = std::min(number, blocks[cursor.block].number);
    }
    return number;
  }

  void add_block(int64_t number) {
    parts_.clear();
    float bound = 0;
    for (Cursor& cursor : cursors_) {
      const auto& blocks = cursor.column->blocks_;
      if (cursor.block == blocks.size() || blocks[cursor.block].number != number) continue;
      const Block& block = blocks[cursor.block++];
      parts_.push_back({&cursor, &block});
      bound += cursor.scaled * block.max_weight;
    }
    // The margin of the threshold also covers the rounding error in the sum `bound`.
    if (bound < best_.threshold()) return;

    std::fill(std::begin(sums_), std::end(sums_), 0.0F);
    for (const Part& part : parts_) {
      const TermColumn& column = *part.cursor->column;
      const float scaled = part.cursor->scaled;
      for (uint32_t i = part.block->begin; i < part.block->end; ++i) {
        sums_[column.offsets_[i]] += scaled * column.weights_[i];
      }
    }
    const int64_t first = number * kBlockIds;
    auto skipped = std::lower_bound(skip_.begin(), skip_.end(), first);
    for (; skipped != skip_.end() && *skipped < first + kBlockIds; ++skipped) {
      sums_[*skipped - first] = 0;
    }
    collect(first);
  }

  void collect(int64_t first) {
    constexpr size_t kGroup = 16;
    for (size_t group = 0; group < kBlockIds; group += kGroup) {
      float largest = 0;
      for (size_t i = 0; i < kGroup; ++i) largest = std::max(largest, sums_[group + i]);
      if (largest <= 0 || largest < best_.threshold()) continue;
      for (size_t i = 0; i < kGroup; ++i) {
        const float sum = sums_[group + i];
        if (sum > 0) best_.offer(sum, first + static_cast<int64_t>(group + i));
      }
    }
  }

  double exact(int64_t id) const {
    double score = 0;
    for (const Cursor& cursor : cursors_) {
      const TermColumn& column = *cursor.column;
      const auto block =
          std::lower_bound(column.blocks_.begin(), column.blocks_.end(), id / kBlockIds,
                           [](const Block& b, int64_t number) { return b.number < number; });
      if (block == column.blocks_.end() || block->number != id / kBlockIds) continue;
      const auto begin = column.offsets_.begin() + block->begin;
      const auto end = column.offsets_.begin() + block->end;
      const auto offset = static_cast<uint16_t>(id % kBlockIds);
      const auto at = std::lower_bound(begin, end, offset);
      if (at == end || *at != offset) continue;
      const auto& count = column.counts_[static_cast<size_t>(at - column.offsets_.begin())];
      score += cursor.factor * term_weight(count.tf, count.length, average_length_, params_);
    }
    return score;
  }

  struct Part {
    const Cursor* cursor;
    const Block* block;
  };

  double average_length_;
  Bm25Params params_;
  size_t k_;
  std::span<const int64_t> skip_;
  TopScores best_;
  std::vector<Cursor> cursors_;
  std::vector<Part> parts_;
  float sums_[kBlockIds];
};

std::vector<Scored> scan(std::span<const ScanTerm> query, double average_length,
                         const Bm25Params& params, size_t k, std::span<const int64_t> skip) {
  return Scan(query, average_length, params, k, skip).run();
}

}  // namespace stoka::search
