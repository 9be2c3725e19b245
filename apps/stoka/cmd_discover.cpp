#include "command.h"
#include "page_flags.h"
#include "pipeline/discover.h"
#include "pipeline/explain.h"
#include "remote_site.h"
#include "terminal/cite_box.h"
#include "wiring.h"

namespace stoka::app {
namespace {

struct Flags {
  PageFlags page;
  UrlFlag url;
  std::string visitor;
  int limit = 3;
  bool explain = false;
};

Result<pipeline::Recommendations> recommend(App& app, const Flags& flags) {
  const pipeline::DiscoverRequest request{flags.visitor, flags.page.context(), flags.limit};
  if (flags.url.given()) {
    STOKA_ASSIGN(const auto site,
                 RemoteSite::make(app, flags.url.url, {{"--explain", flags.explain}}));
    return site->remote().discover(request);
  }
  STOKA_ASSIGN(const auto wired, wire(app, store::OpenMode::read));
  return pipeline::discover(wired->engine(), request);
}

int run(App& app, const Flags& flags) {
  auto found = recommend(app, flags);
  if (!found) return app.report(found.error());
  if (app.common.json) {
    print(pipeline::to_json(*found) + "\n");
    return 0;
  }
  terminal::Capabilities capabilities = app.capabilities(1);
  bool first = true;
  for (const pipeline::Recommendation& item : found->items) {
    if (!first) print("\n");
    first = false;
    if (item.framing) print(terminal::printable(*item.framing) + "\n");
    print(terminal::cite_box(item.citation, capabilities) + "\n");
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
  flags->url.declare(cli);
  cli.add_option("--visitor", flags->visitor, "visitor id, for interests and history")
      ->type_name("UUID");
  cli.add_option("--limit", flags->limit, "how many (default 3)")
      ->check(CLI::Range(1, 10).description(""))
      ->type_name("1..10");
  cli.add_flag("--explain", flags->explain, "show scores and factors");
  return [flags](App& app) { return run(app, *flags); };
}

}  // namespace stoka::app
