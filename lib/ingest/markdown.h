// Parses markdown into blocks of plain text.
#pragma once

#include <string_view>
#include <vector>

#include "ingest/block.h"
#include "ingest/markdown_preprocessor.h"

namespace stoka::ingest {

struct Markdown {
  std::vector<Block> blocks;
  size_t secret_code = 0;  // how many code blocks were left out because they are marked secret
  bool plain = false;      // the page was too complex to parse and was read as plain text instead
};

// Parses CommonMark with tables. The text is valid UTF-8 with LF line ends, without frontmatter.
// Links become their text, images their description, soft breaks a space, hard breaks a line break;
// code is verbatim; the text of raw HTML is kept. A table row is its cells joined with " | ". Never
// fails; the work is bounded by a multiple of the length.
Markdown parse_markdown(std::string_view text, Dialect dialect = Dialect::markdown);

}  // namespace stoka::ingest
