#include "retrieve/fusion.h"

#include <doctest/doctest.h>

namespace fusion_test {

using namespace stoka;
using namespace stoka::retrieve;

namespace {

using List = std::vector<store::ScoredChunk>;

std::vector<ChunkId> ids(const std::vector<Candidate>& fused) {
  std::vector<ChunkId> out;
  for (const Candidate& candidate : fused) out.push_back(candidate.id);
  return out;
}

const Candidate& find(const std::vector<Candidate>& fused, ChunkId id) {
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
  CHECK(find(fused, 1).score == doctest::Approx(0.7 + 0.3 * 0.5));
  CHECK(find(fused, 2).score == doctest::Approx(0.7 * 0.5));
  CHECK(find(fused, 3).score == doctest::Approx(0.3));
  CHECK(find(fused, 4).score == doctest::Approx(0.0));
  CHECK(ids(fused) == std::vector<ChunkId>{1, 2, 3, 4});
}

TEST_CASE("reciprocal rank fusion uses ranks, not scores") {
  const List lexical = {{1, 1000}, {2, 1}};
  const List dense = {{2, 0.2}, {3, 0.1}};
  FusionOptions options;
  options.fusion = Fusion::rrf;
  const auto fused = fuse(lexical, dense, options);
  CHECK(ids(fused) == std::vector<ChunkId>{2, 1, 3});
  CHECK(find(fused, 2).score == doctest::Approx(1.0 / 62 + 1.0 / 61));
  CHECK(find(fused, 1).score == doctest::Approx(1.0 / 61));
  options.rrf_k = 0;
  CHECK(find(fuse(lexical, dense, options), 1).score == doctest::Approx(1.0));
}

TEST_CASE("a candidate has the rank and score of each list, and rank 0 in a list without it") {
  const auto fused = fuse(List{{7, 3.5}}, List{{8, 0.4}, {7, 0.3}}, {});
  const Candidate& both = find(fused, 7);
  CHECK(both.lexical_rank == 1);
  CHECK(both.bm25 == 3.5);
  CHECK(both.dense_rank == 2);
  CHECK(both.cosine == 0.3);
  const Candidate& dense_only = find(fused, 8);
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

}  // namespace fusion_test
