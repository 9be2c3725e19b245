#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "app.h"
#include "eval/case.h"
#include "eval/evaluate.h"
#include "eval/sweep.h"

namespace stoka::app {

struct SweepRequest {
  std::vector<std::string> axes;             // "KEY=A,B"; if empty, the default axes
  std::vector<std::filesystem::path> pages;  // indexed for each value of an index setting; if
                                             // empty, the configured index is used
  std::filesystem::path scratch;             // the folder for indexes of the pages
  const std::vector<eval::Query>& queries;
};

// Runs the queries with every combination of settings. The last combination stays set in `app`.
Result<eval::Sweep> run_sweep(App& app, const SweepRequest& request,
                              const eval::SuiteProgress& progress, std::stop_token stop);

}  // namespace stoka::app
