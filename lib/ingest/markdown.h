// Markdown to blocks of plain text.
#pragma once

#include <string_view>
#include <vector>

#include "ingest/block.h"
#include "ingest/prepare.h"

namespace stoka::ingest {

struct Markdown {
  std::vector<Block> blocks;
  size_t secret_code = 0;  // blocks of code that are marked secret and left out
  bool plain = false;      // the page was too tangled to parse and was read as plain text instead
};

// CommonMark with tables. The text is valid UTF-8 with LF line ends, without frontmatter. Links
// leave their text, images their description, soft breaks a space, hard ones a line break; code is
// verbatim; of raw HTML the text stays. A table row is its cells joined with " | ". Never fails;
// the work is bounded by a multiple of the length.
Markdown parse_markdown(std::string_view text, Dialect dialect = Dialect::markdown);

}  // namespace stoka::ingest
