#include "eval/ranking.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace ranking_test {

using namespace stoka::eval;

namespace {

// "d1" to "dn" in order.
std::vector<std::string> documents(int n) {
  std::vector<std::string> out;
  for (int i = 1; i <= n; ++i) out.push_back("d" + std::to_string(i));
  return out;
}

}  // namespace

TEST_CASE("scores agree with trec_eval") {
  struct {
    int ranked;
    Gains relevant;
    double hit_1, hit_5, mrr, ndcg_10, recall_20;
  } cases[] = {
      {3, {{"d1", 1}}, 1, 1, 1, 1, 1},
      {3, {{"d2", 3}}, 0, 1, .5, .6309297536, 1},
      {6, {{"d1", 3}, {"d2", 2}, {"d3", 3}, {"d5", 1}, {"d6", 2}}, 1, 1, 1, .9608081943, 1},
      {6,
       {{"d1", 3}, {"d2", 2}, {"d3", 3}, {"d5", 1}, {"d6", 2}, {"x", 3}, {"y", 2}},
       1,
       1,
       1,
       .7561640298,
       .7142857143},
      {8, {{"d5", 1}, {"d6", 2}}, 0, 1, .2, .4178246036, 1},
      {8, {{"d6", 2}}, 0, 0, .1666666667, .3562071871, 1},
      {12, {{"d10", 1}}, 0, 0, .1, .2890648263, 1},
      {12, {{"d11", 1}}, 0, 0, .0909090909, 0, 1},
      {25, {{"d20", 1}, {"d21", 1}}, 0, 0, .05, 0, .5},
      {40, {{"d40", 1}}, 0, 0, .025, 0, 0},
      {30,
       {{"d2", 3},
        {"d4", 2},
        {"d6", 1},
        {"d8", 3},
        {"d10", 2},
        {"d12", 1},
        {"d14", 3},
        {"d16", 2},
        {"d18", 1},
        {"d20", 3},
        {"d22", 2},
        {"d24", 1}},
       0,
       1,
       .5,
       .4191182613,
       .8333333333},
      {5, {{"x", 2}}, 0, 0, 0, 0, 0},
      {0, {{"d1", 1}}, 0, 0, 0, 0, 0},
      {3, {}, 0, 0, 0, 0, 0},
  };
  for (const auto& c : cases) {
    CAPTURE(c.ranked);
    CAPTURE(c.relevant.size());
    const RankingScores scores = score_ranking(documents(c.ranked), c.relevant);
    CHECK(scores.hit_1 == c.hit_1);
    CHECK(scores.hit_5 == c.hit_5);
    CHECK(scores.mrr == doctest::Approx(c.mrr).epsilon(1e-9));
    CHECK(scores.ndcg_10 == doctest::Approx(c.ndcg_10).epsilon(1e-9));
    CHECK(scores.recall_20 == doctest::Approx(c.recall_20).epsilon(1e-9));
  }
}

TEST_CASE("nDCG is 1 only for orders of falling gain") {
  const Gains relevant = {{"a", 3}, {"b", 2}, {"c", 2}, {"d", .5}};
  std::vector<std::string> order = {"a", "b", "c", "d", "x"};
  std::vector<std::string> best;
  do {
    const double ndcg = score_ranking(order, relevant).ndcg_10;
    CHECK(ndcg <= 1);
    CHECK(ndcg > .5);
    if (ndcg == 1) best.push_back(order[0] + order[1] + order[2] + order[3] + order[4]);
  } while (std::next_permutation(order.begin(), order.end()));
  CHECK(best == std::vector<std::string>{"abcdx", "acbdx"});
}

TEST_CASE("mean() averages each score") {
  const RankingScores all[] = {{1, 1, 1, .9, .5}, {0, 1, .25, .3, 0}, {0, 0, 0, 0, 1}};
  const RankingScores scores = mean(all);
  CHECK(scores.hit_1 == doctest::Approx(1.0 / 3));
  CHECK(scores.hit_5 == doctest::Approx(2.0 / 3));
  CHECK(scores.mrr == doctest::Approx(1.25 / 3));
  CHECK(scores.ndcg_10 == doctest::Approx(.4));
  CHECK(scores.recall_20 == doctest::Approx(.5));
  CHECK(mean({}).ndcg_10 == 0);
}

TEST_CASE("scores are named in the order of the table") {
  const std::vector<std::pair<std::string, double>> expected = {
      {"hit@1", .1}, {"hit@5", .2}, {"mrr", .3}, {"ndcg@10", .4}, {"recall@20", .5}};
  CHECK(named({.1, .2, .3, .4, .5}) == expected);
}

}  // namespace ranking_test
