// What `stoka eval` reads before it begins, and where it writes.
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
  std::string qrels;        // text; empty: there are none
  bool built_in = false;    // about the sample site
  bool collection = false;  // with judgements of documents that need not be there
};

// The cases of the files, else the built-in ones; of one suite ("all": every), and of those whose
// id contains `only`. A usage error if none is left.
Result<EvalInputs> read_inputs(const EvalFiles& files, const std::string& suite,
                               const std::string& only);

Result<eval::Phrases> built_in_phrases();

// The reports of a folder (*.json), oldest first; other JSON is passed over.
Result<std::vector<eval::Report>> read_history(const std::string& folder);
Result<eval::Report> read_report_file(const std::string& file);

// A data error unless a file can be written there.
Result<> check_writable(const std::string& file);

}  // namespace stoka::app
