#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

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

std::string report_text(const pipeline::IndexReport& report, const Common& common, bool dry_run) {
  std::string out = fmt::format("{}{} added, {} changed, {} unchanged, {} removed; {} chunks\n",
                                dry_run ? "would be: " : "", report.added, report.changed,
                                report.unchanged, report.removed, report.chunks);
  if (dry_run || common.verbose)
    for (const std::string& change : report.changes) out += text::one_line(change) + "\n";
  for (const ingest::Skipped& item : report.skipped)
    out += fmt::format("skipped {}: {}\n", shown(item.path), text::one_line(item.reason));
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
  print(app.common.json ? pipeline::to_json(*report) + "\n"
                        : report_text(*report, app.common, flags.dry_run));
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
