// Key-value data in front of a page or in a list of products, flattened to text: what YAML, TOML
// and JSON have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::ingest {

struct Field {
  std::string key;  // dotted when nested, e.g. "taxonomies.tags"; spelled as written
  std::vector<std::string> values;  // scalars as text; one if not a list
  bool is_list = false;
};

// A mapping. Anchors, aliases and more than 16 levels are refused; anything that yaml-cpp throws is
// a data error with the line.
Result<std::vector<Field>> yaml_fields(std::string_view yaml);

Result<std::vector<Field>> toml_fields(std::string_view toml);

// An object of at most 16 levels.
Result<std::vector<Field>> json_fields(std::string_view json);

// For text that the parsers refuse: the lines of the form "key: value" or "key = value", unquoted,
// with inline lists and "- item" lines, also indented under a key without a value and under a
// "[table]", as "table.key". Never fails.
std::vector<Field> salvage_fields(std::string_view text, char separator);

}  // namespace stoka::ingest
