// The unit of parsed content: every source format is parsed into a list of blocks.
#pragma once

#include <string>

namespace stoka::ingest {

enum class BlockKind { heading, paragraph, code, item, row, quote };

struct Block {
  BlockKind kind = BlockKind::paragraph;
  int level = 0;     // 1 to 6 for a heading, otherwise 0
  std::string text;  // plain text, never empty; with the hard line breaks of the source

  bool operator==(const Block&) const = default;
};

}  // namespace stoka::ingest
