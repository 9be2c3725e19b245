// The same queries through the whole retrieval of the sample site, in both stores.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "rerank/policy.h"
#include "support/json.h"
#include "support/postgres.h"
#include "support/site_fixture.h"

namespace store_parity_test {

using namespace stoka;

namespace {

constexpr size_t kQuestions = 50;
constexpr size_t kTop = 5;

std::vector<std::string> questions() {
  std::ifstream in(STOKA_SOURCE_DIR "/evals/calibration/answerable.jsonl");
  std::vector<std::string> out;
  for (std::string line; out.size() < kQuestions && std::getline(in, line);)
    out.push_back(nlohmann::json::parse(line).at("query").get<std::string>());
  REQUIRE(out.size() == kQuestions);
  return out;
}

// Indexes the sample site in an empty store at `url` and puts an engine on it.
std::unique_ptr<testing::SiteFixture> make_house(const std::string& url) {
  auto house = std::make_unique<testing::SiteFixture>(false);
  if (!url.empty()) {
    auto store = store::open(url, store::OpenMode::read_write);
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
    house->embedder.reset();
    house->reranker.reset();
    house->store = std::move(*store);
    house->embedder = std::make_unique<embed::BuiltinEmbedder>(*house->store);
    house->reranker = std::make_unique<rerank::BuiltinReranker>(*house->store);
  }
  const auto report = pipeline::run_index(
      house->store.get(), *house->embedder,
      testing::index_request({testing::fs::path(STOKA_SOURCE_DIR) / "evals/site"}), house->clock,
      house->log);
  REQUIRE_MESSAGE(report, (report ? "" : report.error().message));
  REQUIRE(report->refitted);
  return house;
}

// The top five by a score, with every bit of the score.
std::string top(std::vector<Hit> hits, double Hit::*score) {
  std::stable_sort(hits.begin(), hits.end(),
                   [&](const Hit& a, const Hit& b) { return a.*score > b.*score; });
  if (hits.size() > kTop) hits.resize(kTop);
  std::ostringstream out;
  out << std::hexfloat;
  for (const Hit& hit : hits)
    out << hit.chunk.slug << '#' << hit.chunk.index << ' ' << hit.*score << '\n';
  return out.str();
}

std::vector<Hit> ask(testing::SiteFixture& house, const retrieve::Query& query) {
  auto found = house.engine().candidates(query, {});
  REQUIRE_MESSAGE(found, (found ? "" : found.error().message));
  CHECK(found->reranker_error == "");
  return found->hits;
}

std::vector<Hit> after_policy(std::vector<Hit> hits, const std::string& text) {
  rerank::PolicyContext context;
  context.query = text;
  context.today = std::chrono::floor<std::chrono::days>(testing::kNow);
  return rerank::apply_policy(std::move(hits), context, {});
}

}  // namespace

TEST_CASE(
    "retrieval of fifty questions returns the same top five on both stores, to the last bit") {
  const testing::TestDatabase database;
  const auto sqlite = make_house("");
  const auto postgres = make_house(database.url());
  size_t answered = 0;
  for (const std::string& text : questions()) {
    retrieve::Query query;
    query.text = text;
    for (int round = 0; round < 2; ++round) {
      CAPTURE(text);
      CAPTURE(round);
      const std::vector<Hit> expected = ask(*sqlite, query);
      const std::vector<Hit> found = ask(*postgres, query);
      CHECK(found.size() == expected.size());
      CHECK(top(found, &Hit::cosine) == top(expected, &Hit::cosine));
      CHECK(top(found, &Hit::bm25) == top(expected, &Hit::bm25));
      CHECK(top(found, &Hit::fused) == top(expected, &Hit::fused));
      CHECK(top(found, &Hit::raw_score) == top(expected, &Hit::raw_score));
      CHECK(top(after_policy(found, text), &Hit::score) ==
            top(after_policy(expected, text), &Hit::score));
      answered += expected.size() >= kTop ? 1 : 0;
      // Then without the first result.
      for (size_t i = 0; i < std::min<size_t>(3, expected.size()); ++i) {
        query.exclude_slugs.insert(expected[i].chunk.slug);
      }
    }
  }
  CHECK(answered > kQuestions);
}

TEST_CASE(
    "dense and lexical search each return the same top five on both stores, to the last bit") {
  const testing::TestDatabase database;
  const auto sqlite = make_house("");
  const auto postgres = make_house(database.url());
  for (const std::string& text : questions()) {
    CAPTURE(text);
    const auto vector = sqlite->embedder->embed_query(text, {});
    const auto same = postgres->embedder->embed_query(text, {});
    REQUIRE(vector);
    REQUIRE(same);
    CHECK(*vector == *same);
    const auto terms = retrieve::query_terms(text);
    store::SearchFilter filter;
    for (int round = 0; round < 2; ++round) {
      std::string lists[2];
      for (const bool second : {false, true}) {
        store::Store& store = second ? *postgres->store : *sqlite->store;
        auto lexical = store.search_lexical(terms, kTop, filter);
        REQUIRE(lexical);
        auto all = std::move(*lexical);
        if (!vector->empty()) {
          const auto dense = store.search_dense(*vector, kTop, filter);
          REQUIRE(dense);
          all.insert(all.end(), dense->begin(), dense->end());
        }
        std::vector<ChunkId> ids;
        for (const store::ScoredChunk& scored : all) ids.push_back(scored.id);
        const auto chunks = store.chunks(ids);
        REQUIRE(chunks);
        REQUIRE(chunks->size() == all.size());
        std::ostringstream out;
        out << std::hexfloat;
        for (size_t i = 0; i < all.size(); ++i) {
          out << (*chunks)[i].chunk.slug << '#' << (*chunks)[i].chunk.index << ' ' << all[i].score
              << '\n';
          if (second) filter.exclude_slugs.insert((*chunks)[i].chunk.slug);
        }
        lists[second ? 1 : 0] = out.str();
      }
      CHECK(lists[0] == lists[1]);
    }
  }
}

}  // namespace store_parity_test
