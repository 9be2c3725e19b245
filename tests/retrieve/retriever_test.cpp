#include "retrieve/retriever.h"

#include <doctest/doctest.h>

#include <numeric>

#include "embed/builtin.h"
#include "support/temp_store.h"

namespace retriever_test {

using namespace stoka;
using namespace stoka::retrieve;
using stoka::testing::TempStore;

namespace {

void put_site(TempStore& store) {
  store.put("bounded-loops", {"every loop has a bound and a budget", "a budget is a promise"},
            {"philosophy"}, "Bounded loops");
  store.put("rust-analyzer", {"rust-analyzer reads the whole crate", "editors talk to it"},
            {"tools"}, "Notes on rust-analyzer");
  store.put("caching", {"a cache is a bound on time", "loop caches"}, {"tools"}, "Caching");
  store.put("quiet-release", {"release notes, loop fixes and a budget"}, {"changelog"}, "Quiet");
  store.put("gardens", {"water and soil, nothing else"}, {"garden"}, "Gardens");
}

Query make_query(TempStore& store, const std::string& text) {
  Query query;
  query.text = text;
  query.vector = embed::BuiltinEmbedder(*store).embed_query(text, {}).value();
  return query;
}

std::vector<std::string> slugs(const std::vector<Hit>& hits) {
  std::vector<std::string> out;
  for (const Hit& hit : hits) out.push_back(hit.chunk.slug);
  return out;
}

const Hit* find(const std::vector<Hit>& hits, const std::string& slug) {
  for (const Hit& hit : hits)
    if (hit.chunk.slug == slug) return &hit;
  return nullptr;
}

using List = std::vector<store::ScoredChunk>;

std::vector<ChunkId> ids(const std::vector<Candidate>& fused) {
  std::vector<ChunkId> out;
  for (const Candidate& candidate : fused) out.push_back(candidate.id);
  return out;
}

const Candidate& candidate_of(const std::vector<Candidate>& fused, ChunkId id) {
  for (const Candidate& candidate : fused)
    if (candidate.id == id) return candidate;
  FAIL("the chunk is not among the fused candidates");
  return fused.front();
}

}  // namespace

TEST_CASE("weighted fusion scales each list by its own minimum and maximum") {
  const List lexical = {{1, 10}, {2, 6}, {3, 2}};
  const List dense = {{3, 0.9}, {1, 0.5}, {4, 0.1}};
  const auto fused = fuse(lexical, dense, {});
  CHECK(candidate_of(fused, 1).score == doctest::Approx(0.7 + 0.3 * 0.5));
  CHECK(candidate_of(fused, 2).score == doctest::Approx(0.7 * 0.5));
  CHECK(candidate_of(fused, 3).score == doctest::Approx(0.3));
  CHECK(candidate_of(fused, 4).score == doctest::Approx(0.0));
  CHECK(ids(fused) == std::vector<ChunkId>{1, 2, 3, 4});
}

TEST_CASE("reciprocal rank fusion uses ranks, not scores") {
  const List lexical = {{1, 1000}, {2, 1}};
  const List dense = {{2, 0.2}, {3, 0.1}};
  FusionOptions options;
  options.fusion = Fusion::rrf;
  const auto fused = fuse(lexical, dense, options);
  CHECK(ids(fused) == std::vector<ChunkId>{2, 1, 3});
  CHECK(candidate_of(fused, 2).score == doctest::Approx(1.0 / 62 + 1.0 / 61));
  CHECK(candidate_of(fused, 1).score == doctest::Approx(1.0 / 61));
  options.rrf_k = 0;
  CHECK(candidate_of(fuse(lexical, dense, options), 1).score == doctest::Approx(1.0));
}

TEST_CASE("a candidate has the rank and score of each list, and rank 0 in a list without it") {
  const auto fused = fuse(List{{7, 3.5}}, List{{8, 0.4}, {7, 0.3}}, {});
  const Candidate& both = candidate_of(fused, 7);
  CHECK(both.lexical_rank == 1);
  CHECK(both.bm25 == 3.5);
  CHECK(both.dense_rank == 2);
  CHECK(both.cosine == 0.3);
  const Candidate& dense_only = candidate_of(fused, 8);
  CHECK(dense_only.lexical_rank == 0);
  CHECK(dense_only.bm25 == 0);
  CHECK(dense_only.dense_rank == 1);
}

TEST_CASE("a single list keeps its order, and without lists there are no candidates") {
  for (const Fusion fusion : {Fusion::rrf, Fusion::weighted}) {
    FusionOptions options;
    options.fusion = fusion;
    const List list = {{5, 3}, {1, 2}, {9, 1}};
    CHECK(ids(fuse(list, {}, options)) == std::vector<ChunkId>{5, 1, 9});
    CHECK(ids(fuse({}, list, options)) == std::vector<ChunkId>{5, 1, 9});
    CHECK(fuse({}, {}, options).empty());
  }
}

TEST_CASE("equal scores of a list are scaled to 1, and ties are ordered by id") {
  const auto fused = fuse(List{{4, 2}, {2, 2}}, {}, {});
  CHECK(ids(fused) == std::vector<ChunkId>{2, 4});
  CHECK(fused.front().score == doctest::Approx(0.7));
}

TEST_CASE("query_terms weights each term by its count and adds the topic with a low weight") {
  const auto terms = query_terms("loop, loop budget", "budget caching");
  std::vector<std::pair<std::string, double>> found;
  for (const auto& [term, weight] : terms) found.emplace_back(term, weight);
  CHECK(found ==
        std::vector<std::pair<std::string, double>>{{"budget", 1.0}, {"cach", 0.3}, {"loop", 2.0}});
}

TEST_CASE("the mode selects the lexical search, the dense search or both") {
  TempStore store;
  put_site(store);
  REQUIRE(store.refit());
  const Query query = make_query(store, "loop budget");
  struct Case {
    Mode mode;
    bool lexical;
    bool dense;
  };
  for (const Case& c : {Case{Mode::lexical, true, false}, Case{Mode::dense, false, true},
                        Case{Mode::hybrid, true, true}}) {
    RetrieveOptions options;
    options.mode = c.mode;
    const auto hits = retrieve::retrieve(*store, query, options).value();
    REQUIRE_FALSE(hits.empty());
    CHECK(hits.front().chunk.slug == "bounded-loops");
    bool lexical = false;
    bool dense = false;
    for (const Hit& hit : hits) {
      lexical = lexical || hit.lexical_rank > 0;
      dense = dense || hit.dense_rank > 0;
    }
    CHECK(lexical == c.lexical);
    CHECK(dense == c.dense);
  }
}

TEST_CASE("hits are ordered best first, and a smaller limit returns the first of them") {
  TempStore store;
  put_site(store);
  REQUIRE(store.refit());
  const Query query = make_query(store, "a loop with a budget and a bound");
  const auto all = retrieve::retrieve(*store, query, {}).value();
  for (size_t i = 1; i < all.size(); ++i) CHECK(all[i - 1].fused >= all[i].fused);
  for (size_t wanted = 0; wanted <= all.size() + 1; ++wanted) {
    RetrieveOptions options;
    options.candidates = wanted;
    const auto some = retrieve::retrieve(*store, query, options).value();
    REQUIRE(some.size() == std::min(wanted, all.size()));
    for (size_t i = 0; i < some.size(); ++i) CHECK(some[i].id == all[i].id);
  }
}

TEST_CASE("hits with equal scores are ordered by slug, then by chunk index") {
  TempStore store;
  for (const char* slug : {"c", "a", "b"}) store.put(slug, {"same words", "same words"}, {}, "T");
  Query query;
  query.text = "same words";
  RetrieveOptions options;
  options.candidates = 4;
  const auto hits = retrieve::retrieve(*store, query, options).value();
  CHECK(slugs(hits) == std::vector<std::string>{"a", "a", "b", "b"});
  CHECK(hits[0].chunk.index == 0);
  CHECK(hits[1].chunk.index == 1);
}

TEST_CASE("a chunk that only the lexical search found has its cosine") {
  TempStore store;
  put_site(store);
  REQUIRE(store.refit());
  const Query query = make_query(store, "loop budget");
  RetrieveOptions options;
  options.dense_k = 1;
  const auto hits = retrieve::retrieve(*store, query, options).value();
  bool seen = false;
  for (const Hit& hit : hits) {
    if (hit.dense_rank != 0) continue;
    seen = true;
    const auto stored = store->chunks(std::vector<ChunkId>{hit.id}, true).value().front();
    CHECK(hit.cosine == doctest::Approx(std::inner_product(query.vector.begin(), query.vector.end(),
                                                           stored.embedding.begin(), 0.0))
                            .epsilon(1e-5));
  }
  CHECK(seen);
}

TEST_CASE("without vectors the hybrid mode returns the lexical hits and the dense mode none") {
  TempStore store;
  put_site(store);
  RetrieveOptions options;
  const auto hybrid = retrieve::retrieve(*store, make_query(store, "loop budget"), options).value();
  CHECK_FALSE(hybrid.empty());
  options.mode = Mode::lexical;
  CHECK(slugs(hybrid) ==
        slugs(retrieve::retrieve(*store, make_query(store, "loop budget"), options).value()));
  options.mode = Mode::dense;
  CHECK(retrieve::retrieve(*store, make_query(store, "loop budget"), options).value().empty());
}

TEST_CASE("excluded slugs are found by neither search") {
  TempStore store;
  put_site(store);
  REQUIRE(store.refit());
  Query query = make_query(store, "loop budget");
  query.exclude_slugs = {"bounded-loops", "no-such-slug"};
  const auto hits = retrieve::retrieve(*store, query, {}).value();
  CHECK_FALSE(hits.empty());
  CHECK(find(hits, "bounded-loops") == nullptr);
}

TEST_CASE("the session topic and the visitor's interests boost chunks with their tags") {
  TempStore store;
  put_site(store);
  Query plain;
  plain.text = "loop";
  const auto before = retrieve::retrieve(*store, plain, {}).value();
  const Hit* cache = find(before, "caching");
  REQUIRE(cache != nullptr);

  Query interested = plain;
  interested.interests = {{"tools", 0.5}, {"philosophy", 0.0}, {"other", 1.0}};
  const auto lifted = retrieve::retrieve(*store, interested, {}).value();
  CHECK(find(lifted, "caching")->fused == doctest::Approx(cache->fused * 1.025));
  CHECK(find(lifted, "bounded-loops")->fused ==
        doctest::Approx(find(before, "bounded-loops")->fused));

  Query topical = plain;
  topical.bias_topic = "tools";
  const auto followed = retrieve::retrieve(*store, topical, {}).value();
  CHECK(find(followed, "caching")->fused == doctest::Approx(cache->fused * 1.1));

  Query topic_only = plain;
  topic_only.text = "and then";
  topic_only.bias_topic = "gardens";
  CHECK(find(retrieve::retrieve(*store, topic_only, {}).value(), "gardens") != nullptr);
}

TEST_CASE(
    "boosting only candidates that can reach the result gives the same hits as boosting all") {
  TempStore store;
  for (int i = 0; i < 60; ++i)
    store.put("page-" + std::to_string(i),
              {"a loop with budget number " + std::to_string(i) + std::string(i % 7, ' ') +
               (i % 3 ? " and loop again" : " and a bound") + (i % 5 ? "" : " budget budget")},
              {i % 4 ? "tools" : "philosophy"}, "Page");
  REQUIRE(store.refit());
  for (const Fusion fusion : {Fusion::rrf, Fusion::weighted})
    for (const char* topic : {"", "philosophy"})
      for (const double weight : {0.0, 0.4, 1.0}) {
        Query query = make_query(store, "loop budget");
        query.bias_topic = topic;
        query.interests = {{"tools", weight}};
        RetrieveOptions all, some;
        all.fusion.fusion = some.fusion.fusion = fusion;
        all.candidates = 1000;
        const auto whole = slugs(retrieve::retrieve(*store, query, all).value());
        REQUIRE(whole.size() == 60);
        for (const size_t wanted : {size_t{1}, size_t{5}, size_t{20}}) {
          some.candidates = wanted;
          CHECK(slugs(retrieve::retrieve(*store, query, some).value()) ==
                std::vector<std::string>(whole.begin(), whole.begin() + static_cast<long>(wanted)));
        }
      }
}

TEST_CASE("unknown terms find nothing, and a search can be cancelled") {
  TempStore store;
  put_site(store);
  REQUIRE(store.refit());
  CHECK(retrieve::retrieve(*store, make_query(store, "xylophone"), {}).value().empty());
  CHECK(retrieve::retrieve(*store, Query{}, {}).value().empty());
  std::stop_source source;
  source.request_stop();
  const auto stopped =
      retrieve::retrieve(*store, make_query(store, "loop"), {}, source.get_token());
  REQUIRE_FALSE(stopped.has_value());
  CHECK(stopped.error().kind == ErrorKind::cancelled);
}

}  // namespace retriever_test
