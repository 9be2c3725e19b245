#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/ascii.h"
#include "command.h"
#include "ingest/source_format.h"
#include "pages.h"
#include "terminal/interrupt.h"
#include "terminal/progress.h"
#include "text/normalize.h"

namespace stoka::app {
namespace {

struct IndexFlags {
  std::vector<std::string> paths;
  bool prune = false;
  bool rebuild = false;
  bool dry_run = false;
};

// Returns a path as a user would type it: relative to the current folder if it is inside it.
std::string shown(const std::string& path) {
  std::error_code error;
  std::string here = std::filesystem::current_path(error).string() + "/";
  return text::one_line(!error && path.starts_with(here) ? path.substr(here.size()) : path);
}

// Most folders have many files of unsupported types. More than this number of files with the same
// extension are reported in one line.
constexpr size_t kMaxListedPerExtension = 3;

std::string skipped_text(const std::vector<ingest::SkippedSource>& skipped, bool verbose) {
  const auto extension = [](const ingest::SkippedSource& item) {
    return to_lower(std::filesystem::path(item.path).extension().string());
  };
  std::map<std::string, size_t> unsupported;  // the number of skipped files of each extension
  for (const ingest::SkippedSource& item : skipped)
    if (item.kind == ingest::SkipKind::unsupported) ++unsupported[extension(item)];
  std::string out;
  for (const ingest::SkippedSource& item : skipped) {
    size_t count = 1;
    const std::string type = extension(item);
    if (item.kind == ingest::SkipKind::unsupported && !verbose) {
      count = unsupported[type];
      if (count > kMaxListedPerExtension) unsupported[type] = 0;  // skips later files of it
    }
    if (count == 0) continue;
    const std::string reason = text::one_line(item.reason);
    if (count > kMaxListedPerExtension)
      out +=
          fmt::format("skipped {} files {}: {}; -v lists them\n", count,
                      type.empty() ? "without an extension" : text::one_line("*" + type), reason);
    else
      out += fmt::format("{} {}: {}\n", item.is_partial ? "left out of" : "skipped",
                         shown(item.path), reason);
  }
  return out;
}

std::string report_text(const pipeline::IndexReport& report, const CommonFlags& common,
                        bool dry_run) {
  std::string out = fmt::format("{}{} added, {} changed, {} unchanged, {} removed; {} chunks\n",
                                dry_run ? "would be: " : "", report.added, report.changed,
                                report.unchanged, report.removed, report.chunks);
  if (dry_run || common.verbose)
    for (const std::string& change : report.changes) out += text::one_line(change) + "\n";
  if (common.quiet) return out;
  for (const ingest::SkippedSource& item : report.left_out)
    out +=
        fmt::format("{}: {}; the rest is indexed\n", shown(item.path), text::one_line(item.reason));
  out += skipped_text(report.skipped, common.verbose);
  if (report.missing > 0)
    out +=
        fmt::format("{} indexed document{} no longer there; --prune forgets {}\n", report.missing,
                    report.missing == 1 ? " is" : "s are", report.missing == 1 ? "it" : "them");
  if (common.verbose)
    for (const std::string& warning : report.warnings) out += shown(warning) + "\n";
  else if (!report.warnings.empty())
    out += fmt::format("{} file{} repaired or embedded in parts; -v lists them\n",
                       report.warnings.size(), report.warnings.size() == 1 ? " was" : "s were");
  return out;
}

int run_index(App& app, const IndexFlags& flags) {
  auto paths = page_paths(flags.paths);
  if (!paths) return app.report(paths.error());
  pipeline::IndexRequest request;
  request.paths = std::move(*paths);
  request.prune = flags.prune;
  request.rebuild = flags.rebuild;
  request.dry_run = flags.dry_run;
  auto interrupt = terminal::Interrupt::install({.output = STDOUT_FILENO});
  if (!interrupt) return app.report(interrupt.error());
  terminal::Progress bar([](std::string_view text) { print_stderr(text); },
                         app.capabilities(STDERR_FILENO), app.clock);
  bool show_progress = !app.common.quiet && !app.common.json;
  auto report = index_pages(
      app, std::move(request),
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
        .help = "the folders and files to index: " + ingest::format_names(),
        .completion = Completion::files,
        .required = true},
       {.names = "--prune",
        .target = &values->prune,
        .help = "remove every document that is not under the given paths"},
       {.names = "--rebuild",
        .target = &values->rebuild,
        .help = "build the index anew, which is necessary after a change of model or settings"},
       {.names = "-n,--dry-run",
        .target = &values->dry_run,
        .help = "show what would change, and write nothing"}});
  return [values](App& app) { return run_index(app, *values); };
}

}  // namespace stoka::app
