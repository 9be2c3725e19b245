#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "command.h"
#include "probes.h"
#include "text/normalize.h"
#include "wiring.h"

namespace stoka::app {
namespace {

using Json = nlohmann::ordered_json;

struct Report {
  std::string store;
  store::IndexStats stats;
  std::vector<Part> parts;
  std::optional<Error> problem;  // the first thing to mend
};

// Servers are asked even when there is no index yet: that is when they are set up.
Result<Report> inspect(App& app) {
  Report out;
  out.store = store::describe(app.store_url());
  auto wired = wire(app, store::OpenMode::read);
  if (!wired && wired.error().kind != ErrorKind::not_found) return fail(wired.error());
  if (wired) {
    out.store = (*wired)->store().describe();
    STOKA_ASSIGN(out.stats, (*wired)->store().stats());
    out.parts = probe(app, (*wired)->providers(), out.stats);
  } else {
    STOKA_ASSIGN(std::unique_ptr<Providers> parts, providers(app, nullptr));
    out.parts = probe(app, *parts, out.stats);
  }
  for (const Part& part : out.parts)
    if (part.error && !out.problem) out.problem = part.error;
  if (!out.problem && out.stats.unfinished)
    out.problem = Error(ErrorKind::data, "an index run is under way, or did not come to its end",
                        "wait for it, or run: stoka index PATH");
  if (out.problem) return out;
  Result<> index = wired ? (*wired)->engine().check_index() : fail(wired.error());
  if (!index) out.problem = index.error();
  return out;
}

// Vectors of a model are never stale.
uint64_t changed_since_fit(const store::IndexStats& stats) {
  return stats.fitted_chunks > 0 ? stats.changed_since_fit : 0;
}

std::string report_json(const Report& report) {
  const store::IndexStats& stats = report.stats;
  Json out = {{"store", report.store}, {"documents", stats.documents}, {"chunks", stats.chunks}};
  for (const Part& part : report.parts) {
    Json body = {{"name", part.name}};
    if (!part.model.empty()) body["model"] = part.model;
    if (part.role == "embedder") body["dim"] = part.dim;
    body["ok"] = !part.error;
    body["ms"] = std::round(part.ms * 10) / 10;
    if (!part.detail.empty()) body["detail"] = part.detail;
    if (part.error) body["error"] = part.error->message;
    if (part.error && !part.error->hint.empty()) body["hint"] = part.error->hint;
    out[part.role] = std::move(body);
  }
  out["indexed_at"] = stats.indexed_at ? Json(rfc3339(*stats.indexed_at)) : Json(nullptr);
  out["stale"] = changed_since_fit(stats);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string report_text(const Report& report) {
  const store::IndexStats& stats = report.stats;
  std::string out = fmt::format("store      {}\nindexed    {} documents, {} chunks{}\n",
                                report.store, stats.documents, stats.chunks,
                                stats.indexed_at ? ", " + rfc3339(*stats.indexed_at) : "");
  if (changed_since_fit(stats) > 0)
    out += fmt::format("           {} chunks changed since the vectors were fitted on {}\n",
                       stats.changed_since_fit, stats.fitted_chunks);
  for (const Part& part : report.parts)
    out += fmt::format("{:<10} {}{}{}  {}{}\n", part.role, text::one_line(part.name),
                       part.model.empty() || part.name.starts_with(part.model + " ")
                           ? ""
                           : ", " + text::one_line(part.model),
                       part.dim ? fmt::format(", {} dimensions", part.dim) : "",
                       part.error ? "NOT OK: " + text::one_line(part.error->message) : "ok",
                       part.detail.empty() ? "" : ", " + part.detail) +
           (part.error && !part.error->hint.empty()
                ? fmt::format("           {}\n", text::one_line(part.error->hint))
                : "");
  return out;
}

// A key is not shown, nor what may hold one: a command, the query string of an address. Kinds are
// shown as they are in use.
std::string shown(const Config& config, const Setting& setting) {
  std::string text = config.text(setting.key);
  if (setting.key == "embedder.kind") text = embedder_kind(config);
  if (setting.key == "reranker.kind") text = reranker_kind(config);
  if (setting.key == "generator.kind") text = generator_kind(config);
  if (setting.key == "store") text = store::describe(text);
  if (setting.secret && !text.empty()) return "***";
  if (setting.key.ends_with(".url") && text.find('@') != std::string::npos) return "***";
  if (setting.key.ends_with(".url")) text.resize(std::min(text.find('?'), text.size()));
  return text::one_line(text);
}

// With -v: every document, every setting and where its value comes from.
std::string details(App& app) {
  std::string out = "\ndocuments\n";
  auto store = app.open_store(store::OpenMode::read);
  if (auto documents = store ? (*store)->documents() : fail(store.error()))
    for (const store::DocumentInfo& info : *documents)
      out += fmt::format("  {}  {}  {} chunks\n", text::one_line(info.document.slug),
                         info.document.type, info.chunks);
  out += "\nsettings\n";
  for (const Setting& setting : app.config().settings())
    out += fmt::format("  {:<30} {:<32} {:<24} {:<12} {}\n", setting.key, setting.env,
                       shown(app.config(), setting), name(app.config().origin(setting.key)),
                       setting.help);
  return out;
}

int run_status(App& app) {
  auto report = inspect(app);
  if (!report) return app.report(report.error());
  print(app.common.json ? report_json(*report) + "\n" : report_text(*report));
  if (app.common.verbose && !app.common.json) print(details(app));
  return report->problem ? app.report(*report->problem) : 0;
}

}  // namespace

Run declare_status(FlagList&) {
  return [](App& app) { return run_status(app); };
}

}  // namespace stoka::app
