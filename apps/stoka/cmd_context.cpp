#include "command.h"
#include "pipeline/discover.h"
#include "remote_site.h"
#include "terminal/cite_box.h"
#include "wiring.h"

namespace stoka::app {
namespace {

struct Flags {
  std::string page;
  UrlFlag url;
};

Result<pipeline::Ambient> look(App& app, const Flags& flags) {
  if (flags.url.given()) {
    STOKA_ASSIGN(const auto site, RemoteSite::make(app, flags.url.url));
    return site->remote().context(flags.page);
  }
  STOKA_ASSIGN(const auto wired, wire(app, store::OpenMode::read));
  return pipeline::ambient(wired->engine(), flags.page);
}

int run(App& app, const Flags& flags) {
  auto ambient = look(app, flags);
  if (!ambient) return app.report(ambient.error());
  if (app.common.json) {
    print(pipeline::to_json(*ambient) + "\n");
    return 0;
  }
  if (!ambient->hint.empty()) print(terminal::printable(ambient->hint) + "\n");
  if (ambient->citation) print(terminal::cite_box(*ambient->citation, app.capabilities(1)) + "\n");
  return 0;
}

}  // namespace

Run declare_context(CLI::App& cli) {
  auto flags = std::make_shared<Flags>();
  cli.add_option("--page", flags->page, "the page the visitor is on")->required()->type_name("URL");
  flags->url.declare(cli);
  return [flags](App& app) { return run(app, *flags); };
}

}  // namespace stoka::app
