#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "store/copy.h"
#include "terminal/interrupt.h"
#include "terminal/progress.h"

namespace stoka::app {
namespace {

struct StoreFlags {
  std::string action;
  std::string from;
  std::string to;
  bool prune = false;
};

std::string report_json(const store::CopyReport& report) {
  return nlohmann::ordered_json{{"documents", report.documents}, {"unchanged", report.unchanged},
                                {"removed", report.removed},     {"visitors", report.visitors},
                                {"sessions", report.sessions},   {"skipped", report.skipped}}
      .dump();
}

std::string report_text(const store::CopyReport& report) {
  std::string out = fmt::format(
      "{} documents copied, {} there already, {} removed; {} visitors, {} sessions\n",
      report.documents, report.unchanged, report.removed, report.visitors, report.sessions);
  if (report.skipped > 0)
    out += fmt::format("skipped {} visitors and sessions whose id is not a UUID\n", report.skipped);
  return out;
}

Result<store::CopyReport> copy(App& app, const StoreFlags& flags) {
  if (flags.from == flags.to)
    return fail(ErrorKind::usage, "source and target are the same store", "name two stores");
  STOKA_ASSIGN(const auto from, app.open_store(flags.from, store::OpenMode::read));
  STOKA_ASSIGN(const auto to, app.open_store(flags.to, store::OpenMode::read_write));
  STOKA_ASSIGN(const auto interrupt, terminal::Interrupt::install({.output = STDOUT_FILENO}));
  terminal::Progress bar([](std::string_view text) { print_stderr(text); },
                         app.capabilities(STDERR_FILENO), app.clock);
  const bool show_progress = !app.common.quiet && !app.common.json;
  auto report = store::copy(
      *from, *to, flags.prune, app.clock,
      [&](std::string_view what, size_t done, size_t total) {
        if (show_progress) bar.update(done, total, what);
      },
      interrupt->begin());
  bar.clear();
  return report;
}

int run_store(App& app, const StoreFlags& flags) {
  const auto report = copy(app, flags);
  if (!report) return app.report(report.error());
  print(app.common.json ? report_json(*report) + "\n" : report_text(*report));
  return 0;
}

}  // namespace

Run declare_store(FlagList& flags) {
  auto values = std::make_shared<StoreFlags>();
  add(flags, {{.names = "ACTION",
               .target = &values->action,
               .help = "the action, which is copy",
               .required = true,
               .choices = {"copy"}},
              {.names = "SOURCE",
               .target = &values->from,
               .help = "the store to read: sqlite:PATH or postgres://…",
               .completion = Completion::files,
               .required = true},
              {.names = "TARGET",
               .target = &values->to,
               .help = "the store to write to; it is created if it does not exist",
               .completion = Completion::files,
               .required = true},
              {.names = "--prune",
               .target = &values->prune,
               .help = "remove the documents of the target that are not in the source"}});
  return [values](App& app) { return run_store(app, *values); };
}

}  // namespace stoka::app
