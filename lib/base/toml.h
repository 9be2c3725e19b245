// TOML as a flat list of entries. All the TOML that stoka reads (configuration, golden data,
// frontmatter) consists of tables with scalars and lists of scalars, so a flat list is enough and
// the rest of the program does not depend on the TOML library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka {

enum class TomlType { text, integer, other };

struct TomlEntry {
  std::string key;  // the dotted name of the key, e.g. "retrieval.mode"
  // The values as text ("true", "0.7", "2026-04-12"): one, or those of a list.
  std::vector<std::string> values;
  bool is_list = false;
  int line = 0;                    // the line number, counted from 1
  TomlType type = TomlType::text;  // the type of all values; `other` for mixed or other types
};

// What to do with lists of lists and lists of tables, which a flat list cannot hold.
enum class TomlNested { refuse, skip };

// Returns the entries in the order of the file. Malformed text is a data error that names the line,
// and so is a nested list unless `nested` says to skip it. `source` is the file's name in messages.
Result<std::vector<TomlEntry>> parse_toml(std::string_view text, std::string_view source,
                                          TomlNested nested = TomlNested::refuse);

}  // namespace stoka
