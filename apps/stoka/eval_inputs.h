// The input files of `stoka eval`.
#pragma once

#include <string>
#include <vector>

#include "eval/case.h"
#include "eval/predicates.h"
#include "eval/report.h"

namespace stoka::app {

struct EvalFiles {
  std::vector<std::string> cases;
  std::string queries;
  std::string qrels;
};

struct EvalInputs {
  eval::Cases cases;
  std::string qrels;        // the text of the relevance judgements; may be empty
  bool built_in = false;    // the built-in cases, which are about the sample site
  bool collection = false;  // a retrieval collection, whose judgements may name missing documents
};

// Reads the cases of the files, or the built-in cases if there are no files. Keeps the cases of
// one suite (or "all") whose id contains `only`. If no case is left, that is a usage error.
Result<EvalInputs> read_inputs(const EvalFiles& files, const std::string& suite,
                               const std::string& only);

Result<eval::Phrases> built_in_phrases();

// Reads the reports in a folder (*.json), oldest first; ignores JSON files that are not reports.
Result<std::vector<eval::Report>> read_history(const std::string& folder);
Result<eval::Report> read_report_file(const std::string& file);

// Writes the text to a file, or nothing if the name is empty. A failed write is a data error.
Result<> check_writable(const std::string& file);

}  // namespace stoka::app
