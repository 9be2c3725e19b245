#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "pipeline/catalog.h"
#include "pipeline/turn.h"
#include "route/router.h"
#include "store/open.h"

namespace stoka::app {
namespace {

struct Flags {
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

int run(App& app, const Flags& flags) {
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

Run declare_route(CLI::App& cli) {
  auto flags = std::make_shared<Flags>();
  cli.add_option("QUERY", flags->query, "the question")->required()->type_name("");
  cli.add_option("--turns", flags->turns, "turns the session already has")
      ->check(CLI::Range(0, 1000000).description(""))
      ->type_name("N");
  return [flags](App& app) { return run(app, *flags); };
}

}  // namespace stoka::app
