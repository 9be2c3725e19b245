#include "command.h"
#include "page_flags.h"
#include "pipeline/discover.h"
#include "pipeline/explain.h"
#include "terminal/cite_box.h"
#include "wiring.h"

namespace stoka::app {
namespace {

struct Flags {
  PageFlags page;
  std::string visitor;
  int limit = 3;
  bool explain = false;
};

int run(App& app, const Flags& flags) {
  auto wired = wire(app, store::OpenMode::read);
  if (!wired) return app.report(wired.error());
  auto found =
      pipeline::discover((*wired)->engine(), {flags.visitor, flags.page.context(), flags.limit});
  if (!found) return app.report(found.error());
  if (app.common.json) {
    print(pipeline::to_json(*found) + "\n");
    return 0;
  }
  terminal::Capabilities capabilities = app.capabilities(1);
  const std::string& site = app.config().text("site.url");
  bool first = true;
  for (const pipeline::Recommendation& item : found->items) {
    if (!first) print("\n");
    first = false;
    if (item.framing) print(terminal::printable(*item.framing) + "\n");
    print(terminal::cite_box(item.citation, capabilities, site) + "\n");
  }
  if (found->items.empty()) print("nothing left to recommend.\n");
  if (flags.explain)
    print("\n" + clean_lines(pipeline::interests_text(found->interests) +
                             pipeline::ranking_text(found->hits, true)));
  return 0;
}

}  // namespace

Run declare_discover(CLI::App& cli) {
  auto flags = std::make_shared<Flags>();
  flags->page.declare(cli);
  cli.add_option("--visitor", flags->visitor, "visitor id, for interests and history")
      ->type_name("UUID");
  cli.add_option("--limit", flags->limit, "how many (default 3)")
      ->check(CLI::Range(1, 10).description(""))
      ->type_name("1..10");
  cli.add_flag("--explain", flags->explain, "show scores and factors");
  return [flags](App& app) { return run(app, *flags); };
}

}  // namespace stoka::app
