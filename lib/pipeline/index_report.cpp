#include <nlohmann/json.hpp>

#include "base/json.h"
#include "pipeline/index_run.h"

namespace stoka::pipeline {

std::string to_json(const IndexReport& report) {
  using Json = nlohmann::ordered_json;
  const auto list = [](const std::vector<ingest::SkippedSource>& items) {
    Json out = Json::array();
    for (const ingest::SkippedSource& item : items)
      out.push_back({{"path", item.path}, {"reason", item.reason}});
    return out;
  };
  return to_json_text(Json{{"added", report.added},
                           {"changed", report.changed},
                           {"unchanged", report.unchanged},
                           {"removed", report.removed},
                           {"chunks", report.chunks},
                           {"skipped", list(report.skipped)},
                           {"left_out", list(report.left_out)},
                           {"gone", report.missing},
                           {"refitted", report.refitted},
                           {"warnings", report.warnings}});
}

}  // namespace stoka::pipeline
