#include "search/top_scores.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace top_scores_test {

using namespace stoka::search;

namespace {

std::vector<double> kept(size_t k, double margin, const std::vector<float>& scores) {
  TopScores best(k, margin);
  int64_t id = 0;
  for (const float score : scores) best.offer(score, ++id);
  std::vector<double> result;
  for (const Scored& s : best.take()) result.push_back(s.score);
  std::sort(result.rbegin(), result.rend());
  return result;
}

}  // namespace

TEST_CASE("the k best scores are kept, with ties and with scores within a margin of the k-th") {
  CHECK(kept(2, 0, {1, 3, 2}) == std::vector<double>{3, 2});
  CHECK(kept(2, 0, {1, 2, 3, 2}) == std::vector<double>{3, 2, 2});
  CHECK(kept(1, 0.25, {4, 3, 2}) == std::vector<double>{4, 3});
  CHECK(kept(1, 0.25, {-4, -5, -6}) == std::vector<double>{-4, -5});
  CHECK(kept(5, 0, {1, 2}) == std::vector<double>{2, 1});
  CHECK(kept(0, 0, {1, 2}).empty());
}

TEST_CASE("a score that is NaN is ignored") {
  CHECK(kept(2, 0, {std::numeric_limits<float>::quiet_NaN(), 1}) == std::vector<double>{1});
}

TEST_CASE("the kept scores do not depend on the order of many scores") {
  std::vector<float> scores;
  for (int i = 0; i < 3000; ++i) scores.push_back(static_cast<float>((i * 7919) % 1000));
  std::vector<double> expected(scores.begin(), scores.end());
  std::sort(expected.rbegin(), expected.rend());
  expected.resize(21);  // three of each, so the twentieth ties with the twenty-first
  CHECK(kept(20, 0, scores) == expected);
  std::sort(scores.begin(), scores.end());
  CHECK(kept(20, 0, scores) == expected);
  std::sort(scores.rbegin(), scores.rend());
  CHECK(kept(20, 0, scores) == expected);
}

}  // namespace top_scores_test
