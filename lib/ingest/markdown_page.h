// Reads a markdown file with frontmatter.
#pragma once

#include "ingest/source_format.h"

namespace stoka::ingest {

// The file becomes one page. What its frontmatter does not say is taken from its text and its path.
LoadedFile read_markdown(const SourceBytes& source, RepairReport& repairs);

}  // namespace stoka::ingest
