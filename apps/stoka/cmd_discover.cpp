#include "chat_backend.h"
#include "command.h"
#include "page_flags.h"
#include "pipeline/explain.h"
#include "terminal/cite_box.h"

namespace stoka::app {
namespace {

struct DiscoverFlags {
  PageFlags page;
  std::optional<std::string> url;
  std::string visitor;
  int limit = 3;
  bool explain = false;
};

int run_discover(App& app, const DiscoverFlags& flags) {
  const auto backend = make_chat_backend(app, flags.url, {{"--explain", flags.explain}});
  if (!backend) return app.report(backend.error());
  const auto found = (*backend)->discover({flags.visitor, flags.page.context(), flags.limit});
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
    if (item.framing) print(terminal::sanitize_line(*item.framing) + "\n");
    print(terminal::cite_box(item.citation, capabilities) + "\n");
  }
  if (found->items.empty()) print("nothing left to recommend.\n");
  if (flags.explain)
    print("\n" + sanitize_lines(pipeline::interests_text(found->interests) +
                                pipeline::ranking_text(found->hits, true)));
  return 0;
}

}  // namespace

Run declare_discover(FlagList& flags) {
  auto values = std::make_shared<DiscoverFlags>();
  values->page.declare(flags);
  add(flags,
      {url_flag(values->url),
       {.names = "--visitor",
        .target = &values->visitor,
        .help = "the id of the visitor, whose interests and reading history count",
        .value = "UUID"},
       {.names = "--limit",
        .target = &values->limit,
        .help = "the number of recommendations (default 3)",
        .value = "1..10",
        .min = 1,
        .max = 10},
       {.names = "--explain", .target = &values->explain, .help = "also show scores and factors"}});
  return [values](App& app) { return run_discover(app, *values); };
}

}  // namespace stoka::app
