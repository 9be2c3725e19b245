#pragma once

#include <string_view>
#include <vector>

#include "ingest/block.h"

namespace stoka::ingest {

// The text of raw HTML as blocks: tags go, their text stays, h1..h6 become headings, pre becomes
// code, comments, scripts, styles and drawings are dropped, entities are decoded. Linear, never
// fails.
std::vector<Block> html_blocks(std::string_view html);

}  // namespace stoka::ingest
