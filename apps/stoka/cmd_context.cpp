#include "chat_backend.h"
#include "command.h"
#include "terminal/cite_box.h"

namespace stoka::app {
namespace {

struct ContextFlags {
  std::string page;
  std::optional<std::string> url;
};

int run_context(App& app, const ContextFlags& flags) {
  const auto backend = make_chat_backend(app, flags.url);
  if (!backend) return app.report(backend.error());
  const auto ambient = (*backend)->context(flags.page);
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
