#include "embed/builtin.h"

#include <doctest/doctest.h>

#include <numeric>

#include "support/temp_store.h"

namespace builtin_test {

using namespace stoka;
using namespace stoka::embed;
using stoka::testing::TempStore;

namespace {

double cosine(const Vector& a, const Vector& b) {
  REQUIRE(a.size() == b.size());
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void put_two_subjects(TempStore& store) {
  const char* const gardens[] = {"roses need water and soil", "water the roses in the garden",
                                 "garden soil and compost", "compost feeds the soil of roses"};
  const char* const engines[] = {"the engine burns fuel", "fuel and pistons drive the engine",
                                 "pistons need oil", "oil cools the engine and its pistons"};
  for (size_t i = 0; i < 4; ++i) {
    store.put("garden-" + std::to_string(i), {gardens[i]});
    store.put("motor-" + std::to_string(i), {engines[i]});
  }
}

}  // namespace

TEST_CASE("count_terms returns each term once with its count, ordered by term") {
  const auto counts = count_terms("fuel, oil and fuel");
  REQUIRE(counts.size() == 3);
  CHECK(counts[0].term == "and");
  CHECK(counts[1].term == "fuel");
  CHECK(counts[1].count == 2);
  CHECK(count_terms("").empty());
}

TEST_CASE("without a basis no text has a vector") {
  TempStore store;
  put_two_subjects(store);
  BuiltinEmbedder embedder(*store);
  CHECK(embedder.embed_query("roses", {}).value().empty());
  CHECK(
      embedder.embed_documents(std::vector<std::string>{"roses", "fuel"}, {}, {}).value().vectors ==
      std::vector<Vector>(2));
}

TEST_CASE("without a store no text has a vector") {
  BuiltinEmbedder embedder;
  CHECK(embedder.embed_query("roses", {}).value().empty());
  const std::vector<std::string> texts = {"roses", "fuel"};
  CHECK(embedder.embed_documents(texts, {}, {}).value().vectors == std::vector<Vector>(2));
}

TEST_CASE("an index run computes vectors from terms, and fits a basis at its end if needed") {
  TempStore store;
  put_two_subjects(store);
  BuiltinEmbedder embedder(*store);
  CHECK(embedder.is_fitted_to_index());
  const std::vector<std::string> texts = {"the text is not read"};
  const auto terms = count_terms("roses need water");
  const auto embed = [&] {
    const auto embedded = embedder.index_embedder()->embed(
        texts, [&](size_t) -> std::span<const store::TermCount> { return terms; }, {}, {});
    return embedded.value().vectors.front();
  };
  CHECK(embed().empty());
  CHECK(embedder.index_embedder()->finish(store.writer(), {}, {}).value());
  CHECK_FALSE(embedder.index_embedder()->finish(store.writer(), {}, {}).value());
  CHECK(cosine(embed(), embedder.embed_query("roses need water", {}).value()) ==
        doctest::Approx(1.0));
}

TEST_CASE("after a fit every chunk has a vector, near the vectors of the queries it answers") {
  TempStore store;
  put_two_subjects(store);
  REQUIRE(store.refit());
  const store::IndexStats stats = store->stats().value();
  CHECK(stats.vectors == 8);
  CHECK(stats.dim > 0);
  CHECK(stats.fitted_chunks == 8);
  CHECK(stats.changed_since_fit == 0);

  BuiltinEmbedder embedder(*store);
  CHECK(embedder.name() == "builtin-lsa");
  const Vector query = embedder.embed_query("watering a rose garden", {}).value();
  REQUIRE(query.size() == static_cast<size_t>(stats.dim));
  CHECK(cosine(query, query) == doctest::Approx(1.0).epsilon(1e-5));
  const auto nearest = store->search_dense(query, 4, {}).value();
  REQUIRE(nearest.size() == 4);
  for (const auto& [id, score] : nearest)
    CHECK(store->chunks(std::vector<ChunkId>{id}).value().front().chunk.slug.starts_with("garden"));
}

TEST_CASE("the stored vector of a chunk equals the vector computed from its terms") {
  TempStore store;
  put_two_subjects(store);
  REQUIRE(store.refit());
  const auto before = store->document_chunks("motor-1").value().front();
  const auto stored = store->chunks(std::vector<ChunkId>{before.id}, true).value().front();
  const auto terms = count_terms("motor-1\n" + before.chunk.content);
  CHECK(cosine(stored.embedding, FoldInEmbedder(*store).fold_in(terms).value()) ==
        doctest::Approx(1.0));
  const std::vector<std::string> texts = {"motor-1\n" + before.chunk.content, "xylophone", ""};
  const auto vectors = BuiltinEmbedder(*store).embed_documents(texts, {}, {}).value().vectors;
  REQUIRE(vectors.size() == 3);
  CHECK(cosine(stored.embedding, vectors[0]) == doctest::Approx(1.0));
  CHECK(vectors[1].empty());
  CHECK(vectors[2].empty());
}

TEST_CASE(
    "new pages are folded in, and the basis is fitted anew when more than a fifth has changed") {
  TempStore store;
  for (int i = 0; i < 10; ++i)
    store.put("page-" + std::to_string(i), {"word" + std::to_string(i) + " shared text"});
  CHECK(store.refit());
  CHECK_FALSE(store.refit());
  store.put("new-0", {"shared text"});
  store.put("new-1", {"shared text again"});
  CHECK(store->stats().value().vectors == 12);
  CHECK_FALSE(store.refit());
  store.put("new-2", {"a marvellous text"});
  CHECK(BuiltinEmbedder(*store).embed_query("marvellous", {}).value().empty());
  CHECK(store.refit());
  CHECK_FALSE(BuiltinEmbedder(*store).embed_query("marvellous", {}).value().empty());
}

TEST_CASE("no basis is fitted for an empty index or an index without words") {
  TempStore store;
  CHECK_FALSE(store.refit());
  store.put("-", {""});
  CHECK_FALSE(store.refit());
  CHECK(store->stats().value().fitted_chunks == 0);
}

TEST_CASE("a stopped fit leaves the old basis in place") {
  TempStore store;
  put_two_subjects(store);
  std::stop_source source;
  source.request_stop();
  const auto stopped = refit_if_needed(*store, store.writer(), {}, {}, source.get_token());
  REQUIRE_FALSE(stopped.has_value());
  CHECK(stopped.error().kind == ErrorKind::cancelled);
  CHECK(store->stats().value().fitted_chunks == 0);
  double last = 0;
  REQUIRE(refit_if_needed(*store, store.writer(), {}, [&](double share) { last = share; }));
  CHECK(last == doctest::Approx(1.0));
}

}  // namespace builtin_test
