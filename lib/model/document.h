// The published content: documents, and the chunks in which they are searched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/date.h"

namespace stoka {

struct Document {
  std::string slug;  // the name of the document, unique in the index
  std::string title;
  std::string type;  // such as "blog", "changelog", "product", "page", or from frontmatter
  std::string path;  // path of the source file as given to `stoka index`; decides the pruning
  std::string url;   // path on the site ("/blog/slug"), or the URL of the frontmatter; may be empty
  std::string description;
  std::string author;
  std::vector<std::string> tags;
  std::optional<Date> date;
  int reading_minutes = 1;
  std::string content_hash;  // a hash of the source bytes and of all options that affect the chunks
  bool operator==(const Document&) const = default;
};

struct Chunk {
  std::string slug;
  int index = 0;  // the position of the chunk in its document, from 0
  std::string type;
  std::string title;
  std::string section;  // the text of the heading above the chunk; empty before the first heading
  std::vector<std::string> tags;
  std::optional<Date> date;
  int reading_minutes = 1;
  std::string url;
  std::string content;  // plain text; a blank line separates paragraphs

  bool has_tag(std::string_view tag) const;
  bool operator==(const Chunk&) const = default;
};

// The reading time in the form that a citation shows: "8 min".
std::string reading_time(int minutes);

}  // namespace stoka
