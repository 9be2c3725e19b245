// Splits blocks into segments, the smallest parts that a chunk is packed from: sentences, lines of
// code, and parts of those that exceed a chunk by themselves. Internal to the chunker.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/block.h"

namespace stoka::ingest {

// What stands between a segment and the one before it.
enum class Separator { none, space, line, paragraph };
std::string_view to_string(Separator separator);  // the characters themselves, e.g. "\n\n"

struct Segment {
  std::string text;
  Separator separator = Separator::paragraph;
  size_t tokens = 0;
  bool code = false;

  // How many tokens the separator adds to the estimate of a chunk.
  size_t separator_tokens() const {
    return separator == Separator::line || separator == Separator::paragraph ? 1 : 0;
  }
};

struct SegmentedBlock {
  std::vector<Segment> segments;  // never empty
  size_t tokens = 0;              // of all segments and the separators between them
  bool heading = false;           // a heading belongs to the block that follows it
};

// No segment has more than `max_tokens` tokens.
SegmentedBlock split_block(const Block& block, size_t max_tokens);

// The last words of a segment, as many as fit into `max_tokens` tokens, as a list of one segment.
// Empty if the last word does not fit, or if all words do.
std::vector<Segment> trailing_words(const Segment& segment, size_t max_tokens);

}  // namespace stoka::ingest
