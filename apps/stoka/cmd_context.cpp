#include "command.h"
#include "pipeline/discover.h"
#include "terminal/cite_box.h"
#include "wiring.h"

namespace stoka::app {
namespace {

int run(App& app, const std::string& page) {
  auto wired = wire(app, store::OpenMode::read);
  if (!wired) return app.report(wired.error());
  auto ambient = pipeline::ambient((*wired)->engine(), page);
  if (!ambient) return app.report(ambient.error());
  if (app.common.json) {
    print(pipeline::to_json(*ambient) + "\n");
    return 0;
  }
  if (!ambient->hint.empty()) print(terminal::printable(ambient->hint) + "\n");
  if (ambient->citation)
    print(
        terminal::cite_box(*ambient->citation, app.capabilities(1), app.config().text("site.url")) +
        "\n");
  return 0;
}

}  // namespace

Run declare_context(CLI::App& cli) {
  auto page = std::make_shared<std::string>();
  cli.add_option("--page", *page, "the page the visitor is on")->required()->type_name("URL");
  return [page](App& app) { return run(app, *page); };
}

}  // namespace stoka::app
