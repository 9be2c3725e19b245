#include "store/rank.h"

#include <doctest/doctest.h>

#include <cmath>

namespace rank_test {

using namespace stoka;
using namespace stoka::store;

namespace {

using ChunkIds = std::vector<ChunkId>;

ChunkIds ids(const std::vector<ScoredChunk>& found) {
  ChunkIds out;
  for (const ScoredChunk& scored : found) out.push_back(scored.id);
  return out;
}

}  // namespace

TEST_CASE(
    "ties are ordered by slug and chunk index, and only tied chunks are looked up, in one call") {
  // Positions: 1 d/0, 2 b/1, 3 b/0, 4 a/10, 5 a/9.
  const std::map<ChunkId, ChunkPosition> positions = {
      {1, {1, "d", 0}}, {2, {2, "b", 1}}, {3, {3, "b", 0}}, {4, {4, "a", 10}}, {5, {5, "a", 9}}};
  struct {
    std::vector<search::Scored> found;
    size_t k;
    ChunkIds best;
    ChunkIds asked;
  } const cases[] = {
      {{}, 3, {}, {}},
      {{{1, 3.0}, {2, 2.0}, {3, 1.0}}, 3, {1, 2, 3}, {}},
      {{{1, 3.0}, {2, 2.0}, {3, 1.0}}, 2, {1, 2}, {}},
      {{{1, 3.0}, {2, 3.0}, {3, 3.0}, {4, 3.0}, {5, 3.0}}, 9, {5, 4, 3, 2, 1}, {1, 2, 3, 4, 5}},
      {{{1, 3.0}, {2, 3.0}, {3, 3.0}, {4, 3.0}, {5, 3.0}}, 1, {5}, {1, 2, 3, 4, 5}},
      {{{1, 9.0}, {2, 3.0}, {3, 3.0}, {4, 1.0}, {5, 1.0}}, 4, {1, 3, 2, 5}, {2, 3, 4, 5}},
      {{{1, 9.0}, {2, 3.0}, {3, 3.0}, {4, 1.0}, {5, 1.0}}, 3, {1, 3, 2}, {2, 3}},
      {{{1, 9.0}, {2, 9.0}}, 0, {}, {}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.k);
    ChunkIds asked;
    int calls = 0;
    const auto best = rank_top_k(
        c.found, c.k, [&](std::span<const ChunkId> wanted) -> Result<std::vector<ChunkPosition>> {
          ++calls;
          asked.assign(wanted.begin(), wanted.end());
          std::vector<ChunkPosition> given;
          for (const ChunkId id : wanted) given.push_back(positions.at(id));
          return given;
        });
    REQUIRE(best);
    CHECK(ids(*best) == c.best);
    CHECK(asked == c.asked);
    CHECK(calls == (c.asked.empty() ? 0 : 1));
  }
}

TEST_CASE("a failed position lookup fails the search") {
  const std::vector<search::Scored> tied = {{1, 1.0}, {2, 1.0}};
  const auto failed =
      rank_top_k(tied, 5, [](std::span<const ChunkId>) -> Result<std::vector<ChunkPosition>> {
        return fail(ErrorKind::data, "damaged");
      });
  REQUIRE_FALSE(failed);
  CHECK(failed.error().kind == ErrorKind::data);
  const auto missing =
      rank_top_k(tied, 5, [](std::span<const ChunkId>) -> Result<std::vector<ChunkPosition>> {
        return std::vector<ChunkPosition>{{1, "a", 0}};
      });
  CHECK_FALSE(missing);
}

TEST_CASE(
    "the weights of a term are summed, and sums that are not positive and finite are left out") {
  const double nan = std::nan("");
  const std::vector<QueryTerm> query = {{"b", 1},          {"a", 0.5},   {"b", 0.25}, {"zero", 0},
                                        {"less", -1},      {"up", -1},   {"up", 3},   {"nan", nan},
                                        {"inf", INFINITY}, {"x\xFF", 1}, {"x\xFE", 1}};
  const auto weights = term_weights(query);
  CHECK((weights ==
         std::map<std::string, double>{{"a", 0.5}, {"b", 1.25}, {"up", 2}, {"x\xEF\xBF\xBD", 2}}));
  CHECK(term_weights({}).empty());
}

TEST_CASE("a vector must have the dimension of the index and finite values") {
  const float good[] = {1, 0};
  const float bad[] = {1, std::nanf("")};
  const float endless[] = {INFINITY, 0};
  CHECK(check_embedding(good, 2));
  CHECK(check_query(good, 2));
  CHECK(check_embedding(good, 3).error().kind == ErrorKind::config);
  CHECK(check_query(good, 3).error().kind == ErrorKind::config);
  CHECK(check_embedding(good, 3).error().message == "a vector has 2 dimensions, the index 3");
  CHECK(check_query(good, 3).error().message == "the query has 2 dimensions, the index 3");
  CHECK(check_embedding(bad, 2).error().kind == ErrorKind::data);
  CHECK(check_embedding(endless, 2).error().kind == ErrorKind::data);
  CHECK(check_query(bad, 2).error().kind == ErrorKind::internal);
}

TEST_CASE("the first vector of an empty index decides the dimension of all") {
  std::vector<ChunkRecord> chunks(3);
  uint64_t dim = 0;
  REQUIRE(check_embeddings(chunks, dim));
  CHECK(dim == 0);
  chunks[1].embedding = {1, 0};
  REQUIRE(check_embeddings(chunks, dim));
  CHECK(dim == 2);
  chunks[2].embedding = {1, 0, 0};
  CHECK(check_embeddings(chunks, dim).error().kind == ErrorKind::config);
}

}  // namespace rank_test
