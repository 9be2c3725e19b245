// Reads a markdown file with frontmatter.
#pragma once

#include "ingest/source_format.h"

namespace stoka::ingest {

// Makes one page of the file. What its frontmatter does not say is taken from its text and path.
LoadedFile read_markdown(const SourceBytes& source, RepairReport& repairs);

}  // namespace stoka::ingest
