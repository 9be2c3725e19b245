// Reads a corpus: a file with one JSON document per line (JSON Lines).
#pragma once

#include <cstddef>

#include "ingest/source_format.h"

namespace stoka::ingest {

inline constexpr size_t kMaxLineBytes = size_t{16} << 20;  // longer lines are skipped
inline constexpr size_t kMaxListedLines = 20;              // messages of each kind that are listed

// The keys of a line are those of retrieval benchmarks such as BEIR (_id, title, text):
//   slug | id | _id   text or a number. The slug is slugify(id, "._~"): "MED-10" becomes "med-10".
//                     If several lines have the same slug, assign_slugs() gives it to the first.
//   title             if missing, the first sentence of the text
//   text              plain text or a list of plain texts; blank lines separate paragraphs, code
//                     fences enclose code. If missing, the title alone is indexed.
//   type              if missing, "page"
//   url               as written; if missing, the document has none
// interpret_fields() reads date, tags, author, description, reading time and visibility. Other
// keys are ignored. A line that cannot be used is skipped and reported with its number.
LoadedFile read_corpus(const SourceBytes& source, RepairReport& repairs);

}  // namespace stoka::ingest
