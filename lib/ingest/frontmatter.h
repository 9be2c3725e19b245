// What stands in front of a page, in the spellings of Hugo, Jekyll, Zola, Astro and others.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "ingest/fields.h"

namespace stoka::ingest {

enum class FrontmatterFormat { none, yaml, toml, json };

struct FrontmatterSplit {
  FrontmatterFormat format = FrontmatterFormat::none;
  std::string_view raw;   // between the fences; views into the text
  std::string_view body;  // all of the text if there is no frontmatter
  bool closed = true;  // false: the end was missing, and the lines that look like fields were taken
};

// "---" YAML "---" or "...", "+++" TOML "+++", or a JSON object, at the very top and at most 64
// KiB. The text is valid UTF-8 with LF line ends. A rule ("---") that opens a page of prose is left
// alone.
FrontmatterSplit split_frontmatter(std::string_view text);

struct Frontmatter {
  std::string title;
  std::string slug;      // as written
  std::string location;  // permalink, url or path, as written
  std::string description;
  std::string author;             // several are joined with ", "
  std::string type;               // as written
  std::vector<std::string> tags;  // folded, "-" for spaces, each once, in order
  std::optional<Date> date;
  std::optional<int> reading_minutes;
  std::string unpublished;            // why its author keeps it from readers; empty if it is public
  std::vector<std::string> warnings;  // what could not be read, for people
};

// Never fails: text that a parser refuses is read line by line, with a warning.
Frontmatter parse_frontmatter(const FrontmatterSplit& split);

// The same meaning of keys for fields from elsewhere.
Frontmatter interpret_fields(const std::vector<Field>& fields);

// Whether a field says who may see a page and not what it is about: "private", "extra.noindex".
bool is_visibility_field(std::string_view key);

// "false", "no", "off", "0", "none" and the like in any case, and the empty text.
bool says_no(std::string_view value);

// Lower case, trimmed, "-" for spaces, without a leading "#". Empty if nothing is left.
std::string fold_tag(std::string_view tag);

}  // namespace stoka::ingest
