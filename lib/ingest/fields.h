// Key-value data in front of a page or in a list of products. YAML, TOML and JSON are flattened to
// the same list of fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::ingest {

struct Field {
  std::string key;                  // the key as written; dotted if nested, e.g. "taxonomies.tags"
  std::vector<std::string> values;  // the values as text; exactly one unless is_list
  bool is_list = false;
};

// The values of the first field with this key; empty if there is none.
const std::vector<std::string>& values_of(const std::vector<Field>& fields, std::string_view key);

// Whether the text is a key as authors write it: 1 to 40 ASCII letters, digits, "-" and "_".
bool is_simple_key(std::string_view text);

// Parses a mapping. Anchors, aliases and more than 16 levels of nesting are refused. Every error is
// a data error that names the line if the parser knows it.
Result<std::vector<Field>> parse_yaml_fields(std::string_view yaml);

Result<std::vector<Field>> parse_toml_fields(std::string_view toml);

// Reads a JSON text, which must be an object of at most 16 levels.
Result<std::vector<Field>> parse_json_fields(std::string_view json);

// A fallback for text that the parsers refuse. Reads the lines of the form "key: value" or "key =
// value", unquotes the values, and understands inline lists and "- item" lines. An indented key
// below a key without a value, or a key below "[table]", becomes "table.key". Never fails.
std::vector<Field> salvage_fields(std::string_view text, char separator);

}  // namespace stoka::ingest
