#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "pipeline/catalog.h"
#include "pipeline/turn.h"
#include "route/router.h"
#include "store/open.h"

namespace stoka::app {
namespace {

struct RouteFlags {
  std::string query;
  int turns = 0;
};

// The list of slugs is read only when the router asks for it, and an index that is not there yet
// has none.
route::SlugToken lazy_slug_tokens(const App& app) {
  auto catalog = std::make_shared<std::optional<pipeline::Catalog>>();
  return [&app, catalog](std::string_view word) {
    if (!*catalog) {
      catalog->emplace();
      if (auto store = app.open_store(store::OpenMode::read))
        if (auto documents = (*store)->documents()) catalog->emplace(std::move(*documents), 0);
    }
    return (*catalog)->is_slug_token(word);
  };
}

int run_route(App& app, const RouteFlags& flags) {
  auto query = pipeline::clean_query(flags.query);
  if (!query) return app.report(query.error());
  auto golden = app.load_golden();
  if (!golden) return app.report(golden.error());
  auto router = route::Router::make(golden->router);
  if (!router) return app.report(router.error());
  route::Decision decision = router->decide(*query, flags.turns, lazy_slug_tokens(app));
  std::string reply = decision.reply.empty() ? "" : golden->reply(decision.reply, flags.turns);
  if (app.common.json) {
    using Json = nlohmann::ordered_json;
    Json body = {{"query", *query},
                 {"route", name(decision.route)},
                 {"rule", decision.rule},
                 {"reply", reply.empty() ? Json(nullptr) : Json(reply)}};
    print(body.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  } else {
    print(fmt::format("{}  {}\n", name(decision.route), decision.rule));
    if (!reply.empty()) print(reply + "\n");
  }
  return 0;
}

}  // namespace

Run declare_route(FlagList& flags) {
  auto values = std::make_shared<RouteFlags>();
  add(flags,
      {{.names = "QUERY", .target = &values->query, .help = "the question", .required = true},
       {.names = "--turns",
        .target = &values->turns,
        .help = "turns the session already has",
        .value = "N",
        .max = 1000000}});
  return [values](App& app) { return run_route(app, *values); };
}

}  // namespace stoka::app
