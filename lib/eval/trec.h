// The file formats of retrieval collections: reads queries and relevance judgements, writes runs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/case.h"

namespace stoka::eval {

// Reads queries with their judgements. `queries` has JSON lines with "id" or "_id" (string or
// number) and "text", or lines "id TAB text". `qrels` has lines "query document gain" as BEIR has
// them, with or without a header, or TREC's "query iteration document gain", separated by tabs or
// spaces.
//
// A gain of 0 or below means not relevant. A document is known by slugify(id), the slug under which
// ingest/corpus.h indexes it; if two documents have the same slug, the higher gain counts. Queries
// without a relevant document are left out, as trec_eval does, and so are judgements of unknown
// queries. A data error names file and line, or both files if no query is left.
Result<std::vector<Query>> read_collection(std::string_view queries,
                                           const std::string& queries_file, std::string_view qrels,
                                           const std::string& qrels_file);

// The original ids of documents by their slugs. Reading stops at a line that is not a judgement.
std::map<std::string, std::string> document_ids(std::string_view qrels);

struct RankedDocument {
  std::string document;
  double score = 0;
};

// Lines "query Q0 document rank score tag". trec_eval sorts by score and ignores the rank, and
// older versions read scores in single precision. The scores are therefore written in single
// precision, and lowered where they would not fall from line to line.
std::string run_lines(std::string_view query, std::span<const RankedDocument> ranked,
                      std::string_view tag);

}  // namespace stoka::eval
