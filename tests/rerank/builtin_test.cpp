#include "rerank/builtin.h"

#include <doctest/doctest.h>

#include "embed/builtin.h"
#include "retrieve/retriever.h"
#include "support/temp_store.h"

namespace builtin_test {

using namespace stoka;
using namespace stoka::rerank;
using stoka::testing::TempStore;

namespace {

void put_site(TempStore& store) {
  store.put("bounded-execution",
            {"Every program gets its limits before it gets its task. That is bounded execution.",
             "A bound is enforced by a clock or a counter outside the worker."},
            {"philosophy", "agents"}, "The Philosophy of Bounded Execution");
  store.put("backups", {"A backup that was never restored is a hope. We restore one every week."},
            {"operations"}, "Restore drills");
  store.put("caching", {"A cache is a bound on time. Stale data is the price of speed."},
            {"latency"}, "Cache invalidation");
  store.put("names", {"A name is a promise. Good function names say what is not done."}, {},
            "What a name promises");
  store.put("logs", {"Logs are written for strangers at night."}, {}, "Logs for strangers");
  REQUIRE(store.refit());
}

struct Best {
  std::string slug;
  double score = 0;
};

Best best(TempStore& store, const std::string& text) {
  retrieve::Query query;
  query.text = text;
  query.vector = embed::BuiltinEmbedder(*store).embed_query(text, {}).value();
  const auto hits = retrieve::retrieve(*store, query, {}).value();
  const auto scores = BuiltinReranker(*store).score(text, hits, {}).value();
  REQUIRE(scores.size() == hits.size());
  Best found;
  for (size_t i = 0; i < hits.size(); ++i)
    if (*scores[i] > found.score) found = {hits[i].chunk.slug, *scores[i]};
  return found;
}

std::vector<Hit> texts(const std::vector<std::string>& contents) {
  std::vector<Hit> hits;
  for (const std::string& content : contents) {
    hits.emplace_back();
    hits.back().chunk.content = content;
  }
  return hits;
}

}  // namespace

TEST_CASE("a question whose words are in a document finds it with a high score") {
  TempStore store;
  put_site(store);
  struct Case {
    const char* query;
    const char* slug;
    double min_score;
  };
  for (const Case& c :
       {Case{"tell me about bounded execution", "bounded-execution", 0.82},
        Case{"cache invalidation", "caching", 0.82},
        Case{"how do you restore a backup", "backups", 0.82},
        Case{"what makes a good function name", "names", 0.65}, Case{"logs", "logs", 0.65}}) {
    CAPTURE(c.query);
    const Best found = best(store, c.query);
    CHECK(found.slug == c.slug);
    CHECK(found.score >= c.min_score);
  }
}

TEST_CASE("a question about something else scores low, even if a word is shared") {
  TempStore store;
  put_site(store);
  for (const char* query :
       {"quantum gravity research", "best hiking trails in norway", "kubernetes ingress at night",
        "who is the king of spain", "price of train tickets to lisbon", "", "?!"}) {
    CAPTURE(query);
    CHECK(best(store, query).score < 0.5);
  }
}

TEST_CASE("a document that the question names has at least kMinNamedScore") {
  TempStore store;
  put_site(store);
  store.put("debono", {"A terminal for prompts with six hats.", "Install it with one command."}, {},
            "Debono");
  store.put("kvitto", {"Receipts for people who lose receipts."}, {}, "Kvitto");
  REQUIRE(store.refit());
  struct Case {
    const char* query;
    const char* slug;
  };
  for (const Case& c : {Case{"was ist debono?", "debono"}, Case{"is debono dead", "debono"},
                        Case{"wat is kvitto", "kvitto"}}) {
    CAPTURE(c.query);
    const Best found = best(store, c.query);
    CHECK(found.slug == c.slug);
    CHECK(found.score >= kMinNamedScore);
  }
}

TEST_CASE("only the best chunk of a named document gets kMinNamedScore") {
  auto hits = texts({"nothing of note", "is it dead?", "a stranger"});
  for (size_t i : {0, 1}) {
    hits[i].chunk.slug = "debono";
    hits[i].chunk.title = "Debono";
  }
  const Question question = parse_question("gestorben ist debono dead");
  const std::vector<Features> features(3);
  const auto lifted = score_hits(question, hits, features, Calibration{-3, {}});
  CHECK(lifted[0] == kMinNamedScore);
  CHECK(lifted[1] < 0.1);
  CHECK(lifted[2] < 0.1);
}

TEST_CASE("a question without content words scores low everywhere") {
  TempStore store;
  put_site(store);
  store.put("help", {"Why? No. Yes, the more help the better. Is it? Help."}, {}, "Why: more help");
  for (const char* query : {"why?", "no", "the", "yes", "more", "help", "is it", "ok", "thanks"}) {
    CAPTURE(query);
    CHECK(best(store, query).score < 0.1);
  }
}

TEST_CASE("a question in a script without spaces finds its page") {
  TempStore store;
  put_site(store);
  store.put("neko", {"猫は窓辺で眠る。"}, {}, "猫の一日");
  store.put("db", {"索引让查询更快。"}, {}, "数据库");
  REQUIRE(store.refit());
  struct Case {
    const char* query;
    const char* slug;
  };
  for (const Case& c :
       {Case{"猫", "neko"}, Case{"猫は何をする?", "neko"}, Case{"索引是什么？", "db"}}) {
    CAPTURE(c.query);
    const Best found = best(store, c.query);
    CHECK(found.slug == c.slug);
    CHECK(found.score >= 0.65);
  }
  CHECK(best(store, "天気は？").score < 0.5);
}

TEST_CASE("without a store texts are scored with equal word weights") {
  BuiltinReranker reranker;
  CHECK(reranker.name() == "builtin");
  const auto scores = reranker
                          .score("how are retries bounded",
                                 texts({"Retries are bounded by a budget.", "A bounded garden.",
                                        "Tulips and roses.", ""}),
                                 {})
                          .value();
  REQUIRE(scores.size() == 4);
  CHECK(*scores[0] >= 0.65);
  CHECK(*scores[0] > *scores[1]);
  CHECK(*scores[1] > *scores[2]);
  CHECK(*scores[2] < 0.1);
  CHECK(scores[2] == scores[3]);
  CHECK(reranker.score("anything", {}, {}).value().empty());
}

TEST_CASE("an empty index gives the same scores as no store") {
  TempStore store;
  const auto hits = texts({"Retries are bounded by a budget."});
  CHECK(BuiltinReranker(*store).score("bounded retries", hits, {}).value() ==
        BuiltinReranker().score("bounded retries", hits, {}).value());
}

TEST_CASE("the score rises with every feature and stays between 0 and 1") {
  const Calibration& fitted = calibration();
  Features features{};
  CHECK(fitted.score(features) < 0.1);
  double before = fitted.score(features);
  for (size_t i = 0; i < kFeatureCount; ++i) {
    features[i] = 1;
    const double now = fitted.score(features);
    CHECK(now > before);
    before = now;
  }
  CHECK(before > 0.95);
  CHECK(before <= 1);
}

TEST_CASE("scoring can be cancelled") {
  std::stop_source source;
  source.request_stop();
  const auto stopped = BuiltinReranker().score("x", texts({"x"}), source.get_token());
  REQUIRE_FALSE(stopped.has_value());
  CHECK(stopped.error().kind == ErrorKind::cancelled);
}

}  // namespace builtin_test
