// Text that is not parsed as markdown, as blocks.
#pragma once

#include <string_view>
#include <vector>

#include "ingest/block.h"

namespace stoka::ingest {

struct PlainText {
  std::vector<Block> blocks;
  size_t secret_code = 0;  // blocks of code that are marked secret and left out
};

// Paragraphs end at blank lines; what stands between code fences is code. Linear.
PlainText plain_blocks(std::string_view text);

}  // namespace stoka::ingest
