#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "command.h"
#include "golden/starter.h"
#include "pipeline/golden_drafts.h"

namespace stoka::app {
namespace {

struct GoldenFlags {
  std::string action;
  std::string directory;
};

// Returns examples drafted from the configured index, and no examples if there is no index.
Result<std::vector<golden::GoldenExchange>> drafts(App& app) {
  auto store = app.open_store(store::OpenMode::read);
  if (!store && store.error().kind == ErrorKind::not_found)
    return std::vector<golden::GoldenExchange>();
  if (!store) return fail(store.error());
  return pipeline::draft_exchanges(**store);
}

int run_golden(App& app, const GoldenFlags& flags) {
  const auto examples = drafts(app);
  if (!examples) return app.report(examples.error());
  const auto files = golden::write_starter(flags.directory, *examples);
  if (!files) return app.report(files.error());
  if (app.common.json) {
    print(to_json_text(nlohmann::ordered_json{
              {"directory", flags.directory}, {"files", *files}, {"drafted", examples->size()}}) +
          "\n");
    return 0;
  }
  std::string out;
  for (const std::string& file : *files)
    out += fmt::format("{}\n", (std::filesystem::path(flags.directory) / file).string());
  print(sanitize_lines(out));
  if (!app.common.quiet)
    print_stderr(sanitize_lines(fmt::format(
        "stoka: {} examples were drafted from the index. Edit the files, delete those you leave as "
        "they are, and set golden.dir to {} (STOKA_GOLDEN_DIR)\n",
        examples->size(), flags.directory)));
  return 0;
}

}  // namespace

Run declare_golden(FlagList& flags) {
  auto values = std::make_shared<GoldenFlags>();
  add(flags, {{.names = "ACTION",
               .target = &values->action,
               .help = "the action, which is init",
               .required = true,
               .choices = {"init"}},
              {.names = "DIR",
               .target = &values->directory,
               .help = "the directory to write to; it is created if it does not exist",
               .completion = Completion::folders,
               .required = true}});
  return [values](App& app) { return run_golden(app, *values); };
}

}  // namespace stoka::app
