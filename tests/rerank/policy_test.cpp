#include "rerank/policy.h"

#include <doctest/doctest.h>

namespace policy_test {

using namespace stoka;
using rerank::PolicyContext;
using rerank::PolicyOptions;

namespace {

const Date kToday = *parse_date("2026-11-21");

Hit hit(std::string slug, int index, double raw, std::string type = "blog",
        std::vector<std::string> tags = {}, std::string date = "2025-12-01") {
  Hit out;
  out.chunk.slug = std::move(slug);
  out.chunk.index = index;
  out.chunk.type = std::move(type);
  out.chunk.tags = std::move(tags);
  out.chunk.date = parse_date(date);
  out.raw_score = raw;
  return out;
}

std::string rules(const Hit& hit) {
  std::string out;
  for (const PolicyReceipt& factor : hit.factors) out += (out.empty() ? "" : " ") + factor.rule;
  return out;
}

PolicyContext context(std::string query = "retries") { return {std::move(query), {}, 0, kToday}; }

}  // namespace

TEST_CASE("each policy rule multiplies the score by its factor and is recorded in the hit") {
  struct Case {
    Hit hit;
    PolicyContext context;
    double score;
    const char* rules;
  };
  PolicyContext shown = context(), deep = context(), shallow = context();
  shown.shown = {"a"};
  deep.turns = 4;
  shallow.turns = 3;
  for (const Case& c : {
           Case{hit("a", 0, 0.5), context(), 0.5, ""},
           Case{hit("a", 0, 0.5), shown, 0.05, "shown"},
           Case{hit("a", 0, 0.5, "blog", {"philosophy"}), deep, 0.65, "deep-reader"},
           Case{hit("a", 0, 0.5, "blog", {"philosophy"}), shallow, 0.5, ""},
           Case{hit("a", 0, 0.5, "blog", {}, "2026-11-01"), context(), 0.575, "recent"},
           Case{hit("a", 0, 0.5, "blog", {}, "2026-10-22"), context(), 0.575, "recent"},
           Case{hit("a", 0, 0.5, "blog", {}, "2026-10-21"), context(), 0.5, ""},
           Case{hit("a", 0, 0.5, "blog", {}, "2026-12-24"), context(), 0.5, ""},
           Case{hit("a", 0, 0.5, "product"), context("What is Debono"), 0.6, "navigational"},
           Case{hit("a", 0, 0.5, "product"), context("do you have a thing"), 0.6, "navigational"},
           Case{hit("a", 0, 0.5, "product"), context("how is debono"), 0.5, ""},
           Case{hit("a", 0, 0.5, "blog"), context("what is debono"), 0.5, ""},
           Case{hit("a", 0, 0.9, "product", {}, "2026-11-20"), context("tell me about it"), 1.0,
                "recent navigational"},
       }) {
    CAPTURE(c.context.query);
    auto kept = rerank::apply_policy({c.hit}, c.context, {});
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].score == doctest::Approx(c.score));
    CHECK(rules(kept[0]) == c.rules);
    CHECK(kept[0].raw_score == c.hit.raw_score);
  }
}

TEST_CASE("the score of a second chunk of a slug is lowered, and a third chunk is dropped") {
  std::vector<Hit> dropped;
  auto kept = rerank::apply_policy(
      {hit("a", 2, 0.9), hit("a", 0, 0.95), hit("a", 1, 0.8), hit("b", 0, 0.6)}, context(), {},
      &dropped);
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].chunk.index == 0);
  CHECK(kept[1].chunk.slug == "b");
  CHECK(kept[2].score == doctest::Approx(0.54));
  CHECK(rules(kept[2]) == "same-source");
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].chunk.index == 1);
}

TEST_CASE("five hits are kept, ordered by score, then slug") {
  auto kept = rerank::apply_policy({hit("f", 0, 0.5), hit("b", 1, 0.5), hit("e", 0, 0.5),
                                    hit("c", 0, 0.5), hit("a", 0, 0.5), hit("d", 0, 0.5)},
                                   context(), {});
  std::string order;
  for (const Hit& h : kept) order += h.chunk.slug;
  CHECK(order == "abcde");
}

TEST_CASE("scores are clamped to [0,1]") {
  PolicyOptions generous;
  generous.recent = 50;
  auto kept =
      rerank::apply_policy({hit("a", 0, 0.9, "blog", {}, "2026-11-20")}, context(), generous);
  CHECK(kept[0].score == 1.0);
}

TEST_CASE("the confidence follows from the best score and the thresholds") {
  struct Case {
    double score;
    Confidence confidence;
    bool low;
  };
  for (Case c : {Case{1.0, Confidence::direct, false}, Case{0.82, Confidence::direct, false},
                 Case{0.8199, Confidence::adjacent, false}, Case{0.65, Confidence::adjacent, false},
                 Case{0.6499, Confidence::adjacent, true}, Case{0.5, Confidence::adjacent, true},
                 Case{0.4999, Confidence::nothing, false}, Case{0.0, Confidence::nothing, false}}) {
    CAPTURE(c.score);
    Hit best = hit("a", 0, 0);
    best.score = c.score;
    auto result = rerank::classify_confidence(std::vector{best}, {});
    CHECK(result.confidence == c.confidence);
    CHECK(result.low_confidence == c.low);
  }
  CHECK(rerank::classify_confidence({}, {}).confidence == Confidence::nothing);
}

}  // namespace policy_test
