#include "rerank/order.h"

#include <doctest/doctest.h>

namespace order_test {

using namespace stoka;
using namespace stoka::rerank;

namespace {

std::vector<Hit> hits(const std::vector<std::string>& contents) {
  std::vector<Hit> out;
  for (const std::string& content : contents) {
    out.emplace_back();
    out.back().chunk.content = content;
  }
  return out;
}

}  // namespace

TEST_CASE("RetrievalOrder keeps the order and gives the first hit the best score of the texts") {
  const auto found = hits({"A garden.", "Retries are bounded by a budget.", "Tulips."});
  const auto order = RetrievalOrder().score("how are retries bounded", found, {}).value();
  const auto builtin = BuiltinReranker().score("how are retries bounded", found, {}).value();
  REQUIRE(order.size() == 3);
  CHECK(order[0] == builtin[1]);
  CHECK(order[0] > order[1]);
  CHECK(order[1] > order[2]);
  CHECK(RetrievalOrder().score("x", {}, {}).value().empty());
}

TEST_CASE("a hit without a score gets the score of its rank in retrieval order") {
  auto found = hits({"a", "b", "c", "d"});
  set_raw_scores(found, {0.3, std::nullopt, 0.8, std::nullopt});
  CHECK(found[0].raw_score == 0.3);
  CHECK(found[1].raw_score == 0.3);  // the second best of two scores
  CHECK(found[1].is_unscored);
  CHECK(found[2].raw_score == 0.8);
  CHECK_FALSE(found[2].is_unscored);
  CHECK(found[3].raw_score == 0.3);  // the worst score, since there is no fourth
}

}  // namespace order_test
