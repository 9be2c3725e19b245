#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/ascii.h"
#include "command.h"
#include "pages.h"
#include "pipeline/index_run.h"
#include "terminal/interrupt.h"
#include "terminal/progress.h"
#include "text/normalize.h"
#include "wiring.h"

namespace stoka::app {
namespace {

struct IndexFlags {
  std::vector<std::string> paths;
  bool prune = false;
  bool rebuild = false;
  bool dry_run = false;
};

// Paths as the person would type them: relative to here where that is shorter.
std::string shown(const std::string& path) {
  std::error_code error;
  std::string here = std::filesystem::current_path(error).string() + "/";
  return text::one_line(!error && path.starts_with(here) ? path.substr(here.size()) : path);
}

// Files that are no sources are many in most trees: more than these with one extension are one
// line.
constexpr size_t kShownAlone = 3;

std::string skipped_text(const std::vector<ingest::Skipped>& skipped, bool verbose) {
  const auto extension = [](const ingest::Skipped& item) {
    return lower(std::filesystem::path(item.path).extension().string());
  };
  std::map<std::string, size_t> unsupported;  // by extension
  for (const ingest::Skipped& item : skipped)
    if (item.kind == ingest::SkipKind::unsupported) ++unsupported[extension(item)];
  std::string out;
  for (const ingest::Skipped& item : skipped) {
    size_t count = 1;
    const std::string type = extension(item);
    if (item.kind == ingest::SkipKind::unsupported && !verbose) {
      count = unsupported[type];
      if (count > kShownAlone) unsupported[type] = 0;  // the next ones are in this line
    }
    if (count == 0) continue;
    const std::string reason = text::one_line(item.reason);
    if (count > kShownAlone)
      out +=
          fmt::format("skipped {} files {}: {}; -v lists them\n", count,
                      type.empty() ? "without an extension" : text::one_line("*" + type), reason);
    else
      out += fmt::format("{} {}: {}\n", item.part ? "left out of" : "skipped", shown(item.path),
                         reason);
  }
  return out;
}

std::string report_text(const pipeline::IndexReport& report, const Common& common, bool dry_run) {
  std::string out = fmt::format("{}{} added, {} changed, {} unchanged, {} removed; {} chunks\n",
                                dry_run ? "would be: " : "", report.added, report.changed,
                                report.unchanged, report.removed, report.chunks);
  if (dry_run || common.verbose)
    for (const std::string& change : report.changes) out += text::one_line(change) + "\n";
  if (common.quiet) return out;
  for (const ingest::Skipped& item : report.left_out)
    out +=
        fmt::format("{}: {}; the rest is indexed\n", shown(item.path), text::one_line(item.reason));
  out += skipped_text(report.skipped, common.verbose);
  if (report.gone > 0)
    out += fmt::format("{} indexed document{} no longer there; --prune forgets {}\n", report.gone,
                       report.gone == 1 ? " is" : "s are", report.gone == 1 ? "it" : "them");
  if (common.verbose)
    for (const std::string& warning : report.warnings) out += shown(warning) + "\n";
  else if (!report.warnings.empty())
    out += fmt::format("{} file{} mended or embedded in parts; -v lists them\n",
                       report.warnings.size(), report.warnings.size() == 1 ? " was" : "s were");
  return out;
}

// The store to write to; for a dry run one that is only read, or none yet.
Result<std::unique_ptr<store::Store>> open_store(App& app, bool dry_run) {
  if (!dry_run) return app.open_store(store::OpenMode::read_write);
  auto store = app.open_store(store::OpenMode::read);
  if (!store && store.error().kind == ErrorKind::not_found) return std::unique_ptr<store::Store>();
  return store;
}

int run_index(App& app, const IndexFlags& flags) {
  pipeline::IndexRequest request;
  auto paths = page_paths(flags.paths);
  if (!paths) return app.report(paths.error());
  request.paths = std::move(*paths);
  request.prune = flags.prune;
  request.rebuild = flags.rebuild;
  request.dry_run = flags.dry_run;
  request.chunks = chunk_options(app.config());
  request.identity = pipeline_settings(app.config()).identity;

  auto store = open_store(app, flags.dry_run);
  if (!store) return app.report(store.error());
  auto parts = providers(app, store->get());
  if (!parts) return app.report(parts.error());
  if (embedder_kind(app.config()) != "builtin") request.model = (*parts)->embedder();
  auto interrupt = terminal::Interrupt::install({.output = STDOUT_FILENO});
  if (!interrupt) return app.report(interrupt.error());
  terminal::Progress bar([](std::string_view text) { print_error(text); },
                         app.capabilities(STDERR_FILENO), app.clock);
  bool show_progress = !app.common.quiet && !app.common.json;
  auto report = pipeline::run_index(
      store->get(), request, app.clock, app.log,
      [&](std::string_view what, size_t done, size_t total) {
        if (show_progress) bar.update(done, total, what);
      },
      (*interrupt)->begin());
  bar.clear();
  if (!report) return app.report(report.error());
  const bool changed = report->added + report->changed + report->removed > 0;
  if (app.common.json)
    print(pipeline::to_json(*report) + "\n");
  else if (changed || !app.common.quiet)
    print(report_text(*report, app.common, flags.dry_run));
  return 0;
}

}  // namespace

Run declare_index(FlagList& flags) {
  auto values = std::make_shared<IndexFlags>();
  add(flags,
      {{.names = "PATH",
        .target = &values->paths,
        .help = "folders and files: markdown, products.json, a corpus.jsonl",
        .offer = Offer::files,
        .required = true},
       {.names = "--prune",
        .target = &values->prune,
        .help = "forget every document that is not under the paths"},
       {.names = "--rebuild",
        .target = &values->rebuild,
        .help = "make the index again, with another model or settings than it was made with"},
       {.names = "-n,--dry-run",
        .target = &values->dry_run,
        .help = "say what would change, write nothing"}});
  return [values](App& app) { return run_index(app, *values); };
}

}  // namespace stoka::app
