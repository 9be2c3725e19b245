// Builds a page from what the reader of a text format found: metadata and blocks.
#pragma once

#include <vector>

#include "ingest/frontmatter.h"
#include "ingest/source_format.h"

namespace stoka::ingest {

// What the metadata do not say is taken from the first heading and from the path of the file:
// title, slug, type, URL and date. The blocks determine the reading time.
Page build_page(const SourceBytes& source, const Frontmatter& meta, std::vector<Block> blocks);

}  // namespace stoka::ingest
