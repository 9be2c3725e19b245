// The file formats of retrieval collections: queries and relevance judgements in, runs out.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/case.h"

namespace stoka::eval {

// Queries with their judgements. `queries`: lines of JSON with "id" or "_id" (text or number) and
// "text", or "id TAB text". `qrels`: "query document gain" (with or without a header line, as BEIR
// has it) or TREC's "query iteration document gain", separated by tabs or spaces. Gains of 0 and
// below are not relevant. A document is known by slugify(id), as ingest/corpus.h indexes it; where
// two are one slug, the higher gain stands. Queries without a relevant document are left out, as
// trec_eval does; what judges an unknown query is too. A data error names file and line, or both
// files if nothing is left.
Result<std::vector<Query>> read_collection(std::string_view queries,
                                           const std::string& queries_file, std::string_view qrels,
                                           const std::string& qrels_file);

// Ids as the collection spells them, by slug. Lines that are no judgements end the list.
std::map<std::string, std::string> document_ids(std::string_view qrels);

struct Ranked {
  std::string document;
  double score = 0;
};

// "query Q0 document rank score tag" a line. trec_eval orders by score and not by rank, and older
// ones read scores in single precision: they are written in that, and those that do not fall from
// line to line as ones that do.
std::string run_lines(std::string_view query, std::span<const Ranked> ranked, std::string_view tag);

}  // namespace stoka::eval
