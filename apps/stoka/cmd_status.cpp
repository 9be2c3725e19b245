#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "text/normalize.h"
#include "wiring.h"

namespace stoka::app {
namespace {

using Json = nlohmann::ordered_json;

struct Part {
  std::string role;
  std::string name;
  int dim = 0;
  bool ok = true;
  std::string detail;
};

struct Report {
  std::string store;
  store::IndexStats stats;
  std::vector<Part> parts;
  std::optional<Error> problem;  // the first thing to mend
};

Part check_embedder(Wired& wired, const store::IndexStats& stats) {
  Part part{"embedder", wired.embedder().name(), stats.dim, true, ""};
  if (stats.chunks > 0 && stats.vectors < stats.chunks) {
    part.ok = stats.vectors > 0;
    part.detail = fmt::format("{} of {} chunks have a vector", stats.vectors, stats.chunks);
  }
  return part;
}

// Whether the reranker tells a matching text from one that has nothing to do with the question.
Part check_reranker(Wired& wired) {
  Part part{"reranker", wired.reranker().name(), 0, true, ""};
  Hit match, other;
  match.chunk.content =
      "Every agent runs inside a fixed budget of steps, and stops when it is spent.";
  other.chunk.content = "The library opens at nine and closes at six on weekdays.";
  std::vector<Hit> pair = {match, other};
  auto scores = wired.reranker().score("what budget of steps does an agent have", pair, {});
  part.ok = scores && scores->size() == 2 && (*scores)[0] > (*scores)[1];
  if (!scores)
    part.detail = scores.error().message;
  else if (!part.ok)
    part.detail = "does not tell a match from a mismatch";
  return part;
}

Result<Report> inspect(Wired& wired) {
  Report out;
  out.store = wired.store().describe();
  STOKA_ASSIGN(out.stats, wired.store().stats());
  out.parts = {check_embedder(wired, out.stats),
               check_reranker(wired),
               {"generator", wired.generator().name(), 0, true, ""}};
  if (auto index = wired.engine().check_index(); !index) out.problem = index.error();
  for (const Part& part : out.parts)
    if (!part.ok && !out.problem)
      out.problem = Error(ErrorKind::data, fmt::format("{}: {}", part.role, part.detail),
                          "run: stoka index PATH");
  return out;
}

std::string report_json(const Report& report) {
  const store::IndexStats& stats = report.stats;
  Json out = {{"store", report.store}, {"documents", stats.documents}, {"chunks", stats.chunks}};
  for (const Part& part : report.parts) {
    Json body = {{"name", part.name}};
    if (part.role == "embedder") body["dim"] = part.dim;
    body["ok"] = part.ok;
    if (!part.detail.empty()) body["detail"] = part.detail;
    out[part.role] = std::move(body);
  }
  out["indexed_at"] = stats.indexed_at ? Json(rfc3339(*stats.indexed_at)) : Json(nullptr);
  out["stale"] = stats.changed_since_fit;
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string report_text(const Report& report) {
  const store::IndexStats& stats = report.stats;
  std::string out = fmt::format("store      {}\nindexed    {} documents, {} chunks{}\n",
                                report.store, stats.documents, stats.chunks,
                                stats.indexed_at ? ", " + rfc3339(*stats.indexed_at) : "");
  if (stats.changed_since_fit > 0)
    out += fmt::format("           {} chunks changed since the vectors were fitted on {}\n",
                       stats.changed_since_fit, stats.fitted_chunks);
  for (const Part& part : report.parts)
    out += fmt::format("{:<10} {}{}  {}{}\n", part.role, part.name,
                       part.dim ? fmt::format(", {} dimensions", part.dim) : "",
                       part.ok ? "ok" : "NOT OK", part.detail.empty() ? "" : ": " + part.detail);
  return out;
}

// With -v: every document, every setting and where its value comes from.
std::string details(App& app, store::Store& store) {
  std::string out = "\ndocuments\n";
  if (auto documents = store.documents())
    for (const store::DocumentInfo& info : *documents)
      out += fmt::format("  {}  {}  {} chunks\n", text::one_line(info.document.slug),
                         info.document.type, info.chunks);
  out += "\nsettings\n";
  for (const Setting& setting : app.config().settings())
    out += fmt::format("  {:<24} {:<12} {:<12} {}\n", setting.key, app.config().text(setting.key),
                       name(app.config().origin(setting.key)), setting.help);
  return out;
}

int run(App& app) {
  auto wired = wire(app, store::OpenMode::read);
  if (!wired) return app.report(wired.error());
  auto report = inspect(**wired);
  if (!report) return app.report(report.error());
  print(app.common.json ? report_json(*report) + "\n" : report_text(*report));
  if (app.common.verbose && !app.common.json) print(details(app, (*wired)->store()));
  return report->problem ? app.report(*report->problem) : 0;
}

}  // namespace

Run declare_status(CLI::App&) {
  return [](App& app) { return run(app); };
}

}  // namespace stoka::app
