#pragma once

#include <string_view>
#include <vector>

#include "ingest/block.h"

namespace stoka::ingest {

// Parses raw HTML into blocks. Tags are removed and their text is kept; h1 to h6 become headings,
// pre becomes code; comments, scripts, styles and drawings are dropped; character references are
// decoded. Runs in linear time and never fails.
std::vector<Block> parse_html(std::string_view html);

}  // namespace stoka::ingest
