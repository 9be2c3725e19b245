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
  std::vector<std::string> axes;             // "KEY=A,B"; none: the usual ones
  std::vector<std::filesystem::path> pages;  // indexed anew where settings ask for it; none: what
                                             // is indexed is all there is
  std::filesystem::path scratch;             // folder for those indexes
  const std::vector<eval::Query>& queries;
};

// The queries under every combination. Leaves the last settings in the app.
Result<eval::Sweep> run_sweep(App& app, const SweepRequest& request,
                              const eval::SuiteProgress& progress, std::stop_token stop);

}  // namespace stoka::app
