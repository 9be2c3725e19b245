#pragma once

#include <string_view>

#include "ingest/mending.h"
#include "ingest/page.h"

namespace stoka::ingest {

// A longer line is skipped.
inline constexpr size_t kMaxLineBytes = size_t{16} << 20;

// One JSON document a line, as collections for measuring search come (BEIR: _id, title, text):
//   slug | id | _id   text or a number; it is known by slugify(id, "._~"), "MED-10" as "med-10".
//                     Where several are alike, settle_slugs() gives the first the plain one.
//   title             missing: the first sentence of the text
//   text              plain text, or a list of them; blank lines separate paragraphs, code fences
//                     enclose code. Missing: it is indexed with its title alone.
//   type              missing: "page", which claims nothing
//   url               as written; missing: it has none
// and what interpret_fields() knows of date, tags, author, description, reading time, and of who
// may see it. Other keys are ignored. A line that cannot be used is skipped with its number, the
// first kMostShown of them one by one. What is mended is added to `mending`.
inline constexpr size_t kMostShown = 20;
Pages read_corpus(const SourceFile& file, std::string_view bytes, std::string_view shape,
                  Mending& mending);

}  // namespace stoka::ingest
