#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/page.h"

namespace stoka::ingest {

// Reads the products of a JSON list or of {"products": […]}. Each entry has slug | id | name, name
// | title, tagline, description, status, url, tags and date. Every other text, number or list
// becomes a paragraph "key: value". An entry that cannot be used is skipped and reported with its
// number. The text is valid UTF-8. `chunk_options` is ChunkOptions::describe().
LoadedFile read_products(const SourceFile& file, std::string_view json,
                         std::string_view chunk_options);

}  // namespace stoka::ingest
