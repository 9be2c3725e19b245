#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "base/ascii.h"
#include "base/files.h"
#include "command.h"
#include "pipeline/explain.h"
#include "pipeline/turn.h"
#include "rerank/order.h"
#include "runtime.h"
#include "text/utf8.h"

namespace stoka::app {
namespace {

constexpr uint64_t kMaxTextBytes = 16 << 20;

struct RerankFlags {
  std::string query;
  std::string texts;
  int turns = 0;
  std::vector<std::string> seen;
  bool explain = false;
};

Result<std::string> read_texts(const std::string& file) {
  if (file != "-") return read_file(file, kMaxTextBytes);
  std::string text;
  for (int c = std::cin.get(); c != std::char_traits<char>::eof(); c = std::cin.get()) {
    if (text.size() == kMaxTextBytes)
      return fail(ErrorKind::data, "standard input is larger than 16 MiB",
                  "rank fewer texts at a time");
    text += static_cast<char>(c);
  }
  return text;
}

// Reads one text per line and returns each as a hit without a document, with the slug "line-N".
Result<std::vector<Hit>> given_hits(const std::string& file) {
  STOKA_ASSIGN(std::string source, read_texts(file));
  std::string text = text::repair_utf8(source);
  std::vector<Hit> hits;
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    if (std::string_view content = take_line(rest);
        content.find_first_not_of(" \t\r") != content.npos) {
      Hit hit;
      hit.chunk.slug = fmt::format("line-{}", line);
      hit.chunk.content = content;
      hits.push_back(std::move(hit));
    }
  }
  if (hits.empty())
    return fail(ErrorKind::data, fmt::format("{} has no texts", file), "write one text per line");
  return hits;
}

Result<std::vector<Hit>> indexed_hits(App& app, const std::string& query) {
  STOKA_ASSIGN(std::unique_ptr<Runtime> runtime, make_runtime(app, store::OpenMode::read));
  STOKA_TRY(runtime->engine().check_index());
  retrieve::Query search;
  search.text = query;
  STOKA_ASSIGN(pipeline::Candidates found, runtime->engine().candidates(std::move(search), {}));
  return std::move(found.hits);
}

// Scores given texts. An index is optional; it shows the built-in reranker which words are rare.
Result<std::vector<Hit>> scored_texts(App& app, const std::string& file, const std::string& query) {
  STOKA_ASSIGN(std::vector<Hit> hits, given_hits(file));
  auto store = app.open_store(store::OpenMode::read);
  if (!store && store.error().kind != ErrorKind::not_found) return fail(store.error());
  STOKA_ASSIGN(std::unique_ptr<Providers> parts,
               make_providers(app, store ? store->get() : nullptr));
  STOKA_ASSIGN(rerank::Scores scores, parts->reranker().score(query, hits, {}));
  rerank::set_raw_scores(hits, scores);
  if (auto left = std::count(scores.begin(), scores.end(), std::nullopt); left > 0)
    app.log.warning(fmt::format("{} of {} texts were not scored by {}", left, hits.size(),
                                parts->reranker().name()));
  return hits;
}

int run_rerank(App& app, const RerankFlags& flags) {
  auto query = pipeline::clean_query(flags.query);
  if (!query) return app.report(query.error());
  bool given = !flags.texts.empty();
  auto hits = given ? scored_texts(app, flags.texts, *query) : indexed_hits(app, *query);
  if (!hits) return app.report(hits.error());

  rerank::PolicyOptions policy = policy_options(app.config());
  if (given) policy.keep = hits->size();
  rerank::PolicyContext context{
      *query, {flags.seen.begin(), flags.seen.end()}, flags.turns, app.clock.today()};
  std::vector<Hit> ranked = rerank::apply_policy(std::move(*hits), context, policy);
  rerank::ConfidenceResult verdict =
      rerank::classify_confidence(ranked, confidence_thresholds(app.config()));
  if (app.common.json) {
    print(pipeline::ranking_json(*query, verdict, ranked) + "\n");
  } else {
    print(fmt::format("{}{}\n", to_string(verdict.confidence),
                      verdict.low_confidence ? ", low" : ""));
    print(sanitize_lines(pipeline::ranking_text(ranked, flags.explain)));
  }
  return 0;
}

}  // namespace

Run declare_rerank(FlagList& flags) {
  auto values = std::make_shared<RerankFlags>();
  add(flags,
      {{.names = "QUERY", .target = &values->query, .help = "the question", .required = true},
       {.names = "--explain",
        .target = &values->explain,
        .help = "also show the raw score, every stage and every factor"},
       {.names = "--texts",
        .target = &values->texts,
        .help = "rank the lines of this file instead; - reads standard input",
        .value = "FILE",
        .completion = Completion::files},
       {.names = "--seen",
        .target = &values->seen,
        .help = "slugs that were already shown, separated by commas",
        .value = "A,B",
        .comma_separated = true},
       {.names = "--turns",
        .target = &values->turns,
        .help = "the number of turns that the session already has",
        .value = "N",
        .max = 1000000}});
  return [values](App& app) { return run_rerank(app, *values); };
}

}  // namespace stoka::app
