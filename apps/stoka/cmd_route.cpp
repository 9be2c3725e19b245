#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "command.h"
#include "pipeline/site_words.h"
#include "pipeline/turn.h"
#include "route/router.h"
#include "store/open.h"

namespace stoka::app {
namespace {

struct RouteFlags {
  std::string query;
  int turns = 0;
};

// Opens the index when the router first needs the words of the index. A missing index has no words.
class LazyIndex {
 public:
  explicit LazyIndex(const App& app) : app_(app) {}

  route::SiteWords words() {
    return {[this](std::string_view word) { return open() && words_.names(word); },
            [this](std::string_view word) { return open() && words_.discusses(word); }};
  }

 private:
  bool open() {
    if (tried_) return lookup_ != nullptr;
    tried_ = true;
    auto store = app_.open_store(store::OpenMode::read);
    if (!store) return false;
    store_ = std::move(*store);
    lookup_ = std::make_unique<pipeline::SiteWordLookup>(
        *store_, [this]() -> Result<std::shared_ptr<const pipeline::Catalog>> {
          STOKA_ASSIGN(std::vector<store::DocumentInfo> documents, store_->documents());
          return std::make_shared<const pipeline::Catalog>(std::move(documents), 0);
        });
    words_ = lookup_->words();
    return true;
  }

  const App& app_;
  bool tried_ = false;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<pipeline::SiteWordLookup> lookup_;
  route::SiteWords words_;
};

int run_route(App& app, const RouteFlags& flags) {
  auto query = pipeline::clean_query(flags.query);
  if (!query) return app.report(query.error());
  auto golden = app.load_golden();
  if (!golden) return app.report(golden.error());
  auto router = route::Router::make(golden->router);
  if (!router) return app.report(router.error());
  LazyIndex index(app);
  route::RouteDecision decision = router->decide(*query, flags.turns, index.words());
  std::string reply = decision.reply.empty() ? "" : golden->reply(decision.reply, flags.turns);
  if (app.common.json) {
    using Json = nlohmann::ordered_json;
    Json body = {
        {"query", *query},
        {"route", to_string(decision.route)},
        {"rule", decision.rule},
        {"intent", decision.intent.name.empty() ? Json(nullptr) : Json(decision.intent.name)},
        {"reply", reply.empty() ? Json(nullptr) : Json(reply)},
        {"signal", decision.signal.empty() ? Json(nullptr) : Json(decision.signal)},
        {"site_word", decision.site_word.empty() ? Json(nullptr) : Json(decision.site_word)}};
    print(to_json_text(body) + "\n");
  } else {
    print(fmt::format("{}  {}\n", to_string(decision.route), decision.rule));
    if (!decision.intent.name.empty()) print(fmt::format("intent  {}\n", decision.intent.name));
    if (!reply.empty()) print(reply + "\n");
    if (!decision.site_word.empty())
      print(fmt::format("'{}' is not off topic, because the site has '{}'\n", decision.signal,
                        decision.site_word));
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
        .help = "the number of turns that the session already has",
        .value = "N",
        .max = 1000000}});
  return [values](App& app) { return run_route(app, *values); };
}

}  // namespace stoka::app
