#include "rerank/order.h"

#include <doctest/doctest.h>

using namespace stoka;
using namespace stoka::rerank;

namespace {

std::vector<Hit> hits(std::vector<std::pair<double, double>> fused_and_cosine) {
  std::vector<Hit> out;
  for (auto [fused, cosine] : fused_and_cosine) {
    out.emplace_back();
    out.back().fused = fused;
    out.back().cosine = cosine;
  }
  return out;
}

}  // namespace

TEST_CASE("without a reranker the order is retrieval's and the figures are the similarities") {
  auto found = hits({{3, 0.2}, {2, 0.9}, {1, -0.1}});
  CHECK(retrieval_scores(found, {}) == Scores{0.9, 0.2, 0.0});
}

TEST_CASE("without similarities no more is claimed than that something was found") {
  auto found = hits({{4, 0}, {2, 0}});
  CHECK(retrieval_scores(found, {}) == Scores{0.5, 0.25});
  CHECK(retrieval_scores({}, {}).empty());
}

TEST_CASE("a hit without a score keeps its place among those that have one") {
  auto found = hits({{5, 0}, {4, 0}, {3, 0}, {2, 0}});
  set_raw(found, {0.3, std::nullopt, 0.8, std::nullopt});
  CHECK(found[0].raw == 0.3);
  CHECK(found[1].raw == 0.3);  // second of two
  CHECK(found[1].unscored);
  CHECK(found[2].raw == 0.8);
  CHECK_FALSE(found[2].unscored);
  CHECK(found[3].raw == 0.3);  // never below the worst score
}
