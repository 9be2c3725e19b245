#include "eval_sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/system_under_test.h"
#include "pages.h"
#include "runtime.h"

namespace stoka::app {
namespace {

bool shapes_index(std::string_view key) {
  return key.starts_with("chunk.") || key.starts_with("embedder.");
}

Result<std::vector<eval::Axis>> axes_of(App& app, const SweepRequest& request) {
  std::vector<eval::Axis> out;
  for (const std::string& text : request.axes) {
    STOKA_ASSIGN(eval::Axis axis, eval::parse_axis(text));
    if (request.pages.empty() && shapes_index(axis.key))
      return fail(ErrorKind::usage,
                  fmt::format("{} changes the index, so the pages are needed", axis.key),
                  "name them with --site");
    out.push_back(std::move(axis));
  }
  if (!out.empty()) {
    // Settings that change the index vary slowest, so that it is built as rarely as possible.
    std::stable_partition(out.begin(), out.end(),
                          [](const eval::Axis& axis) { return shapes_index(axis.key); });
    return out;
  }
  if (!request.pages.empty()) {
    out = {{"chunk.max_tokens", {"256", "512", "1024"}},
           {"chunk.overlap_tokens", {"0", "64", "128"}}};
    // The setting chunk.prefix has no effect on the built-in embedder.
    STOKA_ASSIGN(const auto parts, make_providers(app, nullptr));
    if (!parts->embedder().is_fitted_to_index())
      out.push_back({"chunk.prefix", {"none", "title", "full"}});
  }
  out.push_back({"retrieval.mode", {"dense", "lexical", "hybrid"}});
  return out;
}

// Returns the name of a combination, such as "chunk.max_tokens=256 retrieval.mode=dense: ".
std::string describe(const eval::Combination& settings) {
  std::string out;
  for (const auto& [key, value] : settings)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, value);
  return out.empty() ? out : out + ": ";
}

class Sweeper {
 public:
  Sweeper(App& app, const SweepRequest& request, const eval::SuiteProgress& progress,
          std::stop_token stop)
      : app_(app), request_(request), progress_(progress), stop_(std::move(stop)) {}

  Result<eval::Sweep> run() {
    STOKA_ASSIGN(const std::vector<eval::Axis> axes, axes_of(app_, request_));
    const std::vector<eval::Combination> all = eval::combinations(axes);
    steps_ = all.size() + 1;
    eval::Sweep out;
    STOKA_TRY(run_queries({}, out));
    for (const eval::Combination& settings : all) STOKA_TRY(run_queries(settings, out));
    return out;
  }

 private:
  // Indexes the pages with the current settings, unless the last index has the same settings.
  Result<> index() {
    if (request_.pages.empty()) return {};
    std::string shape;
    for (const Setting& setting : app_.config().settings())
      if (shapes_index(setting.key) && !setting.is_secret)
        shape += setting.key + "=" + app_.config().text(setting.key) + "\n";
    if (shape == shape_) return {};
    shape_ = std::move(shape);
    STOKA_TRY(app_.set("store", fmt::format("sqlite:{}/{}.db", request_.scratch.string(), step_)));
    STOKA_TRY(index_pages(app_, {.paths = request_.pages}, {}, stop_));
    return {};
  }

  // Runs the queries with one combination of settings. If it is empty, the configuration is used as
  // it is, and the scores are used to compare thresholds.
  Result<> run_queries(const eval::Combination& settings, eval::Sweep& out) {
    for (const auto& [key, value] : settings)
      if (auto set = app_.set(key, value); !set)
        return fail(ErrorKind::usage, "--sweep: " + set.error().message, set.error().hint);
    STOKA_TRY(index());
    if (progress_) progress_("sweep", step_, steps_);
    ++step_;
    auto runtime_or = make_runtime(app_, store::OpenMode::read);
    if (!runtime_or)
      return fail(runtime_or.error().kind, describe(settings) + runtime_or.error().message,
                  runtime_or.error().hint);
    const auto runtime = std::move(*runtime_or);
    STOKA_ASSIGN(const auto subject, eval::SystemUnderTest::make(runtime->engine(), stop_));
    STOKA_ASSIGN(const eval::QueryRuns runs,
                 eval::run_queries(subject->engine(), request_.queries, {}, stop_));
    for (const eval::QueryRun& one : runs.runs)
      if (one.error) return fail(*one.error);
    if (settings.empty()) {
      out.thresholds =
          eval::try_thresholds(runs, request_.queries, runtime->engine().settings().thresholds);
      return {};
    }
    STOKA_ASSIGN(const store::IndexStats stats, runtime->store().stats());
    out.rows.push_back(eval::sweep_row(settings, stats.chunks, runs, request_.queries));
    return {};
  }

  App& app_;
  const SweepRequest& request_;
  const eval::SuiteProgress& progress_;
  const std::stop_token stop_;
  std::string shape_ = "none yet";
  size_t step_ = 0;
  size_t steps_ = 0;
};

}  // namespace

Result<eval::Sweep> run_sweep(App& app, const SweepRequest& request,
                              const eval::SuiteProgress& progress, std::stop_token stop) {
  return Sweeper(app, request, progress, std::move(stop)).run();
}

}  // namespace stoka::app
