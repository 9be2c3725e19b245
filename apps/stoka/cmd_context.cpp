#include "command.h"
#include "pipeline/discover.h"
#include "remote_site.h"
#include "runtime.h"
#include "terminal/cite_box.h"

namespace stoka::app {
namespace {

struct ContextFlags {
  std::string page;
  std::optional<std::string> url;
};

Result<pipeline::Ambient> find_hint(App& app, const ContextFlags& flags) {
  if (flags.url) {
    STOKA_ASSIGN(const auto site, RemoteSite::make(app, *flags.url));
    return site->remote().context(flags.page);
  }
  STOKA_ASSIGN(const auto runtime, make_runtime(app, store::OpenMode::read));
  return pipeline::ambient(runtime->engine(), flags.page);
}

int run_context(App& app, const ContextFlags& flags) {
  auto ambient = find_hint(app, flags);
  if (!ambient) return app.report(ambient.error());
  if (app.common.json) {
    print(pipeline::to_json(*ambient) + "\n");
    return 0;
  }
  if (!ambient->hint.empty()) print(terminal::sanitize_line(ambient->hint) + "\n");
  if (ambient->citation) print(terminal::cite_box(*ambient->citation, app.capabilities(1)) + "\n");
  return 0;
}

}  // namespace

Run declare_context(FlagList& flags) {
  auto values = std::make_shared<ContextFlags>();
  add(flags, {{.names = "--page",
               .target = &values->page,
               .help = "the page the visitor is on",
               .value = "URL",
               .required = true},
              url_flag(values->url)});
  return [values](App& app) { return run_context(app, *values); };
}

}  // namespace stoka::app
