// Parses plain text, which is not markdown, into blocks.
#pragma once

#include <string_view>
#include <vector>

#include "ingest/block.h"

namespace stoka::ingest {

struct PlainText {
  std::vector<Block> blocks;
  size_t secret_code = 0;  // how many code blocks were left out because they are marked secret
};

// Parses text in linear time. A blank line ends a paragraph; text between two code fences is code.
PlainText parse_plain_text(std::string_view text);

}  // namespace stoka::ingest
