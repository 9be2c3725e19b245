// Reads a file with a list of products.
#pragma once

#include "ingest/source_format.h"

namespace stoka::ingest {

// Reads the products of a JSON list or of {"products": […]}. Each entry has slug | id | name, name
// | title, tagline, description, status, url, tags and date. Every other text, number or list
// becomes a paragraph "key: value". An entry that cannot be used is skipped and reported with its
// number.
LoadedFile read_products(const SourceBytes& source, RepairReport& repairs);

}  // namespace stoka::ingest
