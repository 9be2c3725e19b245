// Frontmatter: the metadata in front of a page, as Hugo, Jekyll, Zola, Astro and others spell it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "ingest/fields.h"
#include "model/document.h"

namespace stoka::ingest {

enum class FrontmatterFormat { none, yaml, toml, json };

struct FrontmatterSplit {
  FrontmatterFormat format = FrontmatterFormat::none;
  std::string_view raw;   // the text between the delimiters; a view into the page
  std::string_view body;  // the whole page if there is no frontmatter
  bool closed = true;     // false: the closing delimiter is missing, and `raw` is a guess
};

// Finds "---" YAML "---" or "...", "+++" TOML "+++", or a JSON object at the top of the page, at
// most 64 KiB long. The text is valid UTF-8 with LF line ends. A thematic break ("---") at the top
// of a page of prose is not frontmatter. If the closing delimiter is missing, the lines that look
// like fields are taken.
FrontmatterSplit split_frontmatter(std::string_view text);

struct Frontmatter {
  std::string title;
  std::string slug;       // the slug as written
  std::string permalink;  // the value of permalink, url or path, as written
  std::string description;
  std::string author;  // the author; several are joined with ", "
  std::string type;    // the type as written
  // Tags in lower case, with "-" for spaces, without a leading "#", without duplicates.
  std::vector<std::string> tags;
  std::optional<Date> date;
  std::optional<int> reading_minutes;
  std::string unpublished;  // why the author hides the page from readers; empty if it is public
  std::vector<std::string> warnings;  // messages for people about values that could not be read
};

// Reads frontmatter. Never fails: text that the parser refuses is read line by line with a warning.
Frontmatter parse_frontmatter(const FrontmatterSplit& split);

// Interprets fields from any source as if they were frontmatter.
Frontmatter interpret_fields(const std::vector<Field>& fields);

// Copies the description, author, tags and date of the frontmatter into the document.
void set_metadata(Document& document, const Frontmatter& meta);

// Whether a field says who may see a page rather than what the page is about: "private",
// "extra.noindex".
bool is_visibility_field(std::string_view key);

// Whether a value means no: "false", "no", "off", "0", "none" and the like, or an empty text.
bool is_negative(std::string_view value);

}  // namespace stoka::ingest
