#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/page.h"

namespace stoka::ingest {

// The products of a list or of {"products": […]}: slug | id | name, name | title, tagline,
// description, status, url, tags, date; every other text, number or list becomes a paragraph "key:
// value". An entry that cannot be used is skipped with its number. The text is valid UTF-8.
Pages read_products(const SourceFile& file, std::string_view json, std::string_view shape);

}  // namespace stoka::ingest
