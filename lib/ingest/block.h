// A page as its blocks of plain text.
#pragma once

#include <string>

namespace stoka::ingest {

enum class BlockKind { heading, paragraph, code, item, row, quote };

struct Block {
  BlockKind kind = BlockKind::paragraph;
  int level = 0;     // of a heading, 1..6
  std::string text;  // no markup, never empty; line breaks only where the source means them

  bool operator==(const Block&) const = default;
};

}  // namespace stoka::ingest
