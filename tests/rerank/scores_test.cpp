#include "rerank/scores.h"

#include <doctest/doctest.h>

#include <cmath>

namespace scores_test {

using namespace stoka::rerank;

namespace {

constexpr std::optional<double> kNone;

}  // namespace

TEST_CASE("scores are parsed in the format of each server and ordered by index") {
  for (const std::string body : {
           R"([{"index":2,"score":0.9},{"index":0,"score":0.5},{"index":1,"score":0}])",
           R"({"results":[{"index":2,"relevance_score":0.9,"document":{"text":"c"}},
               {"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0}]})",
           R"({"model":"m","data":[{"index":2,"score":0.9},{"index":1,"relevance_score":0},
               {"index":0,"score":0.5,"relevance_score":null}],"usage":{}})",
       }) {
    CAPTURE(body);
    const auto scores = parse_scores(body, 3);
    REQUIRE_MESSAGE(scores.has_value(), scores.error());
    CHECK(*scores == Scores{0.5, 0.0, 0.9});
  }
}

TEST_CASE("a text whose score is missing or invalid has no score") {
  for (const std::string result :
       {R"({"index":0})", R"({"index":0,"score":null})", R"({"index":0,"score":NaN})",
        R"({"index":0,"score":"0.5"})", R"({"index":0,"score":-1e6})",
        R"({"index":0,"relevance_score":-1000000.0})", R"({"index":0,"score":[1]})"}) {
    CAPTURE(result);
    const auto scores = parse_scores("[" + result + R"(,{"index":1,"score":0.25}])", 3);
    REQUIRE_MESSAGE(scores.has_value(), scores.error());
    CHECK(*scores == Scores{kNone, 0.25, kNone});
  }
}

TEST_CASE("a body that is not a list of scores is an error that says why") {
  const struct {
    std::string body;
    std::string what;
  } cases[] = {
      {"", "sent something that is not JSON"},
      {"<html></html>", "sent something that is not JSON"},
      {R"([{"index":0,)", "sent something that is not JSON"},
      {"{}", "sent no list of scores"},
      {"7", "sent no list of scores"},
      {R"({"results":7})", "sent no list of scores"},
      {R"({"error":{"message":"out of memory"}})", "sent an error: out of memory"},
      {R"([0.5,0.25])", "sent a score without an index"},
      {R"([{"score":0.5}])", "sent a score without an index"},
      {R"([{"index":"0","score":0.5}])", "sent a score without an index"},
      {R"([{"index":2,"score":0.5}])", "sent index 2 for 2 texts"},
      {R"([{"index":-1,"score":0.5}])", "sent index -1 for 2 texts"},
      {R"([{"index":1,"score":0.5},{"index":1,"score":0.25}])", "sent index 1 twice"},
      {std::string(100000, '['), "sent JSON that is nested too deep"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.body);
    const auto scores = parse_scores(one.body, 2);
    REQUIRE_FALSE(scores.has_value());
    CHECK(scores.error() == one.what);
  }
}

TEST_CASE("scores within [0,1] are not changed") {
  Scores scores = {0.0, 1.0, kNone, 0.5};
  normalize_scores(scores);
  CHECK(scores == Scores{0.0, 1.0, kNone, 0.5});
}

TEST_CASE("a score that is outside [0,1] by a rounding error is clamped") {
  Scores scores = {1.0000001, -0.0005, kNone, 0.5};
  normalize_scores(scores);
  CHECK(scores == Scores{1.0, 0.0, kNone, 0.5});
}

TEST_CASE("if one score is outside [0,1], the sigmoid of every score is taken") {
  for (const double outside : {-11.0, 10.0, 1.01}) {
    Scores scores = {outside, 0.5, kNone};
    normalize_scores(scores);
    CHECK(*scores[0] == doctest::Approx(1 / (1 + std::exp(-outside))));
    CHECK(*scores[1] == doctest::Approx(1 / (1 + std::exp(-0.5))));
    CHECK_FALSE(scores[2]);
  }
}

TEST_CASE("the sigmoid of any logit is within [0,1], and the order is kept") {
  Scores scores = {-99999.0, -1.0, 1e300};
  normalize_scores(scores);
  CHECK(*scores[0] == 0);
  CHECK(*scores[1] > *scores[0]);
  CHECK(*scores[2] == 1);
}

}  // namespace scores_test
