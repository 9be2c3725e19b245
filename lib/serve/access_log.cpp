#include "serve/access_log.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "text/normalize.h"

namespace stoka::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxMessageBytes = 2000;

std::string line(const OrderedJson& json) { return to_json_text(json) + "\n"; }

std::string clean(std::string_view text) {
  return text::one_line(text::replace_controls(text.substr(0, kMaxMessageBytes), " "));
}

}  // namespace

AccessLog::AccessLog(const Clock& clock, AccessLogOptions options,
                     std::function<void(std::string_view)> sink)
    : clock_(clock), options_(options), sink_(std::move(sink)) {}

void AccessLog::write(LogLevel level, std::string_view message) {
  if (level == LogLevel::info && !options_.info) return;
  if (level == LogLevel::warning && on_warning_) on_warning_();
  const char* const name = level == LogLevel::warning ? "warning" : "info";
  const std::string now = rfc3339(clock_.now());
  const std::string out = options_.json
                              ? line({{"ts", now}, {"level", name}, {"msg", clean(message)}})
                              : fmt::format("{} {} {}\n", now, name, clean(message));
  const std::lock_guard lock(mutex_);
  sink_(out);
}

void AccessLog::log_request(const AccessLogEntry& v) {
  if (!options_.info) return;
  const std::string now = rfc3339(clock_.now());
  std::string out;
  if (options_.json) {
    OrderedJson json = {{"ts", now},
                        {"level", "info"},
                        {"msg", "request"},
                        {"req_id", v.request_id},
                        {"trace_id", v.trace_id},
                        {"span_id", v.span_id},
                        {"method", v.method},
                        {"route", v.route},
                        {"status", v.status},
                        {"dur_ms", std::round(v.ms * 1000) / 1000}};
    if (!v.end.empty()) json["end"] = v.end;
    if (!v.detail.empty()) json["detail"] = clean(v.detail);
    // The details of an intervention are words of the answer, which are not logged.
    if (v.interventions != nullptr)
      for (const cite::Intervention& one : *v.interventions)
        json["interventions"][std::string(cite::to_string(one.kind))] = one.count;
    if (options_.queries && !v.query.empty()) json["query"] = clean(v.query);
    out = line(json);
  } else {
    out =
        fmt::format("{} {} {} {} {:.1f} ms{}{}{}{}\n", now, v.method, v.route, v.status, v.ms,
                    v.end.empty() ? "" : " ", v.end, v.detail.empty() ? "" : ": ", clean(v.detail));
    if (v.interventions != nullptr)
      for (const cite::Intervention& one : *v.interventions)
        out.insert(out.size() - 1, fmt::format(" {}={}", cite::to_string(one.kind), one.count));
    if (options_.queries && !v.query.empty()) out.insert(out.size() - 1, " > " + clean(v.query));
  }
  const std::lock_guard lock(mutex_);
  sink_(out);
}

}  // namespace stoka::serve
