// TOML as a flat list: everything stoka reads from TOML (configuration, golden data, frontmatter)
// is tables of strings and lists of strings, so this is all that leaves the library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka {

enum class TomlType { text, integer, other };

struct TomlEntry {
  std::string key;  // dotted, e.g. "retrieval.mode"
  std::vector<std::string>
      values;  // scalars as text ("true", "0.7", "2026-04-12"); one if not a list
  bool is_list = false;
  int line = 0;                    // 1-based
  TomlType type = TomlType::text;  // of every value; other: of another type, or of several
};

// What to do with lists inside lists and lists of tables, which have no place in a flat list.
enum class TomlNested { refuse, skip };

// In file order. A malformed text is a data error with the line; what is nested too deep is one too
// unless it is to be skipped.
Result<std::vector<TomlEntry>> parse_toml(std::string_view text, std::string_view source,
                                          TomlNested nested = TomlNested::refuse);

}  // namespace stoka
