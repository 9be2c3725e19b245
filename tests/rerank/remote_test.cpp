#include "rerank/remote.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "support/json.h"
#include "support/test_upstream.h"
#include "support/upstream/fake_upstream.h"

namespace remote_test {

using namespace stoka;
using namespace stoka::rerank;
using namespace stoka::testing;

namespace {

constexpr std::optional<double> kNone;

Hit hit(std::string title, std::string section, std::string content) {
  Hit out;
  out.chunk.title = std::move(title);
  out.chunk.section = std::move(section);
  out.chunk.content = std::move(content);
  return out;
}

// The last hit of some_hits() has all words of kQuery, the one before has half of them.
const std::string kQuery = "roses garden";

std::vector<Hit> some_hits(size_t count) {
  std::vector<Hit> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back(hit("page " + std::to_string(i), "", "about engines"));
  out[count - 2].chunk.content = "about roses";
  out[count - 1].chunk.content = "about roses in the garden";
  return out;
}

template <class Kind>
struct Fixture {
  explicit Fixture(FakeOptions server_options = {}, RemoteRerankerOptions reranker_options = {})
      : server(server_options),
        upstream("reranker", server.url(),
                 std::is_same_v<Kind, TeiReranker> ? net::ApiRoot::plain : net::ApiRoot::versioned),
        reranker(*upstream, std::move(reranker_options)) {}

  Scores scores(const std::vector<Hit>& hits) {
    auto scores = reranker.score(kQuery, hits, {});
    REQUIRE_MESSAGE(scores.has_value(), scores.error().message);
    REQUIRE(scores->size() == hits.size());
    return std::move(*scores);
  }
  Error failure(const std::vector<Hit>& hits) {
    const auto scores = reranker.score(kQuery, hits, {});
    REQUIRE_FALSE(scores.has_value());
    return scores.error();
  }
  std::vector<nlohmann::json> bodies() const {
    std::vector<nlohmann::json> out;
    for (const SeenRequest& request : server.requests())
      out.push_back(nlohmann::json::parse(request.body));
    return out;
  }

  FakeUpstream server;
  TestUpstream upstream;
  Kind reranker;
};

using Tei = Fixture<TeiReranker>;
using Jina = Fixture<JinaReranker>;

void check_last_scores_best(const Scores& scores) {
  const size_t n = scores.size();
  for (size_t i = 0; i < n; ++i) {
    CAPTURE(i);
    REQUIRE(scores[i].has_value());
    CHECK(*scores[i] >= 0);
    CHECK(*scores[i] <= 1);
    if (i + 2 < n) CHECK(*scores[i] < *scores[n - 2]);
  }
  CHECK(*scores[n - 2] < *scores[n - 1]);
}

}  // namespace

TEST_CASE("tei: the request has query, texts, raw_scores and truncate") {
  Tei fixture;
  CHECK(fixture.reranker.name() == "tei at " + fixture.server.url());
  fixture.scores({hit("Title", "Section", "Content"), hit("Title", "", "Content")});
  CHECK(fixture.server.requests()[0].path == "/rerank");
  CHECK(fixture.bodies() ==
        std::vector<nlohmann::json>{{{"query", kQuery},
                                     {"texts", {"Title\nSection\nContent", "Title\nContent"}},
                                     {"raw_scores", false},
                                     {"truncate", true}}});
}

TEST_CASE(
    "jina: the request has query, documents, top_n and the model, and no vendor's own fields") {
  RemoteRerankerOptions named;
  named.model = "some-model";
  FakeOptions options;
  options.model = "some-model";
  Jina fixture(options, named);
  CHECK(fixture.reranker.name() == "jina at " + fixture.server.url() + "/v1");
  fixture.scores({hit("Title", "Section", "Content"), hit("Title", "", "Content")});
  Jina nameless;
  nameless.scores({hit("", "", "Content"), hit("Title", "", "")});
  CHECK(fixture.server.requests()[0].path == "/v1/rerank");
  CHECK(fixture.bodies() ==
        std::vector<nlohmann::json>{{{"query", kQuery},
                                     {"documents", {"Title\nSection\nContent", "Title\nContent"}},
                                     {"top_n", 2},
                                     {"model", "some-model"}}});
  CHECK(nameless.bodies() ==
        std::vector<nlohmann::json>{
            {{"query", kQuery}, {"documents", {"Content", "Title"}}, {"top_n", 2}}});
}

TEST_CASE(
    "each hit gets its own score, whatever the order of the scores and the number of requests") {
  for (const size_t count : {2u, 5u, 32u, 33u, 64u}) {
    CAPTURE(count);
    Tei tei;
    check_last_scores_best(tei.scores(some_hits(count)));
    CHECK(tei.server.requests().size() == (count + 31) / 32);
    Jina jina;
    check_last_scores_best(jina.scores(some_hits(count)));
  }
}

TEST_CASE("logits are recognised over all batches and become scores") {
  for (const std::string dialect : {"llamacpp", "vllm", "openai"}) {
    CAPTURE(dialect);
    FakeOptions options;
    options.dialect = dialect;
    options.logits = true;
    RemoteRerankerOptions reranker_options;
    reranker_options.model = options.model;
    Jina fixture(options, reranker_options);
    check_last_scores_best(fixture.scores(some_hits(40)));
  }
  Tei fixture;
  fixture.server.queue_behaviour(
      R"({"body":"[{\"index\":0,\"score\":0.5},{\"index\":1,\"score\":-2}]"})");
  const Scores scores = fixture.scores(some_hits(2));
  CHECK(*scores[0] == doctest::Approx(0.6224593));
  CHECK(*scores[1] == doctest::Approx(0.1192029));
}

TEST_CASE("a hit that the server did not score has no score, the others have one") {
  for (const std::string fault : {"nulls", "nan", "sentinel", "wrong_count"}) {
    CAPTURE(fault);
    Jina fixture;
    fixture.server.queue_behaviour(R"({"fault":")" + fault + "\"}");
    const Scores scores = fixture.scores(some_hits(4));
    CHECK(std::count(scores.begin(), scores.end(), std::nullopt) == 1);
    for (const auto& score : scores) CHECK(score.value_or(0) <= 1);
  }
}

TEST_CASE("only the first max_hits hits are scored") {
  RemoteRerankerOptions few;
  few.max_hits = 3;
  Tei fixture({}, few);
  const Scores scores = fixture.scores(some_hits(5));
  CHECK(scores[2].has_value());
  CHECK_FALSE(scores[3].has_value());
  CHECK_FALSE(scores[4].has_value());
  CHECK(fixture.bodies()[0]["texts"].size() == 3);
}

TEST_CASE("without hits no request is sent") {
  Tei fixture;
  CHECK(fixture.scores({}).empty());
  CHECK(fixture.server.requests().empty());
}

TEST_CASE("a text above max_text_bytes is cut between two characters") {
  RemoteRerankerOptions brief;
  brief.max_text_bytes = 10;
  Jina fixture({}, brief);
  fixture.scores({hit("\u00e9\u00e9", "", "\u00e9\u00e9\u00e9\u00e9"), hit("0123456789", "", "x")});
  CHECK(fixture.bodies()[0]["documents"] ==
        nlohmann::json{"\u00e9\u00e9\n\u00e9\u00e9", "0123456789"});
}

TEST_CASE("if a text is too long for the server, texts are cut in half, twice at most") {
  const struct {
    size_t max_text;
    bool is_scored;
    size_t requests;
  } cases[] = {{620, true, 2}, {320, true, 3}, {200, false, 3}};
  for (const std::string dialect : {"llamacpp", "vllm"})
    for (const auto& one : cases) {
      CAPTURE(dialect);
      CAPTURE(one.max_text);
      FakeOptions options;
      options.dialect = dialect;
      options.max_text_bytes = one.max_text;
      RemoteRerankerOptions reranker_options;
      reranker_options.max_text_bytes = 1200;
      Jina fixture(options, reranker_options);
      std::vector<Hit> hits = some_hits(3);
      hits[1].chunk.content = std::string(5000, 'x');
      const auto scores = fixture.reranker.score(kQuery, hits, {});
      CHECK(scores.has_value() == one.is_scored);
      CHECK(fixture.server.requests().size() == one.requests);
      CHECK(fixture.bodies().back()["documents"][1].get<std::string>().size() ==
            1200u >> (one.requests - 1));
    }
}

TEST_CASE("tei: the batch is halved until the server accepts the number of texts") {
  FakeOptions small;
  small.max_batch = 5;
  Tei fixture(small);
  check_last_scores_best(fixture.scores(some_hits(20)));
  for (const SeenRequest& request : fixture.server.requests())
    CHECK(nlohmann::json::parse(request.body)["texts"].size() <= 32);
  CHECK(fixture.server.requests().size() == 6);  // of 20, 10, and four times 5 texts
}

TEST_CASE("a response without valid scores gives a protocol error") {
  const struct {
    std::string behaviour;
    std::string what;
  } cases[] = {
      {R"({"fault":"bad_index"})", "sent index "},
      {R"({"fault":"duplicate_index"})", "twice"},
      {R"({"fault":"html"})", "sent something that is not JSON"},
      {R"({"fault":"truncated_json"})", "sent something that is not JSON"},
      {R"({"body":"[]"})", "scored none of 3 texts"},
      {R"({"body":"[{\"index\":1,\"score\":null}]"})", "scored none of 3 texts"},
      {R"({"status":400,"message":"no"})", "no"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.behaviour);
    Tei fixture;
    fixture.server.queue_behaviour(one.behaviour);
    const Error error = fixture.failure(some_hits(3));
    CHECK(error.kind == ErrorKind::protocol);
    CHECK(error.message.starts_with("reranker at " + fixture.server.url()));
    CHECK(error.message.find(one.what) != std::string::npos);
  }
}

TEST_CASE("a server that runs no reranker gives a config error") {
  const struct {
    int status;
    std::string message;
  } cases[] = {
      {424, "model is not a re-ranker model"},
      {501, "This server does not support reranking. Start it with `--reranking`"},
      {400, "The model does not support Score API"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.message);
    Jina fixture;
    fixture.server.queue_behaviour(
        nlohmann::json{{"status", one.status}, {"message", one.message}}.dump());
    const Error error = fixture.failure(some_hits(3));
    CHECK(error.kind == ErrorKind::config);
    CHECK(error.message ==
          "reranker at " + fixture.server.url() + "/v1 is not a reranker: " + one.message);
    CHECK(error.hint ==
          "serve a cross-encoder there, or set reranker.url (STOKA_RERANK_URL) to one");
  }
}

TEST_CASE("a server without the endpoint gives a config error whose hint names the other kind") {
  const struct {
    int status;
    std::string message, what;
  } cases[] = {{404, "page not found", "page not found"}, {405, "", "status 405"}};
  for (const auto& one : cases) {
    CAPTURE(one.what);
    nlohmann::json behaviour = {{"status", one.status}, {"body", one.message}};
    Jina jina;
    jina.server.queue_behaviour(behaviour.dump());
    const Error jina_error = jina.failure(some_hits(3));
    CHECK(jina_error.kind == ErrorKind::config);
    CHECK(jina_error.message ==
          "reranker at " + jina.server.url() + "/v1 is not a reranker: " + one.what);
    CHECK(jina_error.hint ==
          "for text-embeddings-inference set reranker.kind = tei (STOKA_RERANKER); else serve a "
          "reranker there, or set reranker.url (STOKA_RERANK_URL)");
    Tei tei;
    tei.server.queue_behaviour(behaviour.dump());
    const Error tei_error = tei.failure(some_hits(3));
    CHECK(tei_error.message ==
          "reranker at " + tei.server.url() + " is not a reranker: " + one.what);
    CHECK(tei_error.hint ==
          "leave /v1 out of reranker.url (STOKA_RERANK_URL), or for a server with /v1/rerank set "
          "reranker.kind = jina (STOKA_RERANKER)");
  }
}

TEST_CASE("a server that requires a model gives a config error whose hint names the setting") {
  const struct {
    int status;
    std::string message, what;
  } cases[] = {
      {400, "you must provide a model parameter", "you must provide a model parameter"},
      {404, "The model `x` does not exist.", "The model `x` does not exist"},
      {422, "Model x is not supported", "Model x is not supported"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.message);
    const std::string behaviour =
        nlohmann::json{{"status", one.status}, {"message", one.message}}.dump();
    Jina jina;
    jina.server.queue_behaviour(behaviour);
    const Error jina_error = jina.failure(some_hits(3));
    CHECK(jina_error.kind == ErrorKind::config);
    CHECK(jina_error.message ==
          "reranker at " + jina.server.url() + "/v1 requires a valid model name: " + one.what);
    CHECK(jina_error.hint == "set reranker.model (STOKA_RERANK_MODEL)");
    Tei tei;
    tei.server.queue_behaviour(behaviour);
    const Error tei_error = tei.failure(some_hits(3));
    CHECK(tei_error.kind == ErrorKind::config);
    CHECK(
        tei_error.hint.ends_with("jina (STOKA_RERANKER), and reranker.model (STOKA_RERANK_MODEL)"));
  }
  Jina too_long;
  too_long.server.queue_behaviour(
      R"({"status":400,"times":0,"message":"this model's maximum context length is 512 tokens"})");
  CHECK(too_long.failure(some_hits(3)).kind == ErrorKind::protocol);
}

TEST_CASE("a model that fails on a text gives a protocol error, not a config error") {
  Tei fixture;
  fixture.server.queue_behaviour(R"({"status":424,"message":"score is NaN"})");
  CHECK(fixture.failure(some_hits(3)).kind == ErrorKind::protocol);
}

TEST_CASE("a server that is down or closes the connection gives the error unavailable") {
  Tei fixture;
  fixture.server.queue_behaviour(R"({"times":0,"status":503})");
  CHECK(fixture.failure(some_hits(3)).kind == ErrorKind::unavailable);
  fixture.server.reset();
  fixture.server.queue_behaviour(R"({"times":0,"fault":"close"})");
  CHECK(fixture.failure(some_hits(3)).kind == ErrorKind::unavailable);
  fixture.server.reset();
  check_last_scores_best(fixture.scores(some_hits(3)));
}

TEST_CASE("score() times out when its budget for all batches is used up") {
  RemoteRerankerOptions hasty;
  hasty.budget = std::chrono::milliseconds(200);
  Tei silent({}, hasty);
  silent.server.queue_behaviour(R"({"fault":"hang"})");
  const Error unanswered = silent.failure(some_hits(3));
  CHECK(unanswered.kind == ErrorKind::timeout);
  CHECK(unanswered.hint.ends_with("or raise reranker.timeout (STOKA_RERANK_TIMEOUT)"));

  Tei slow({}, hasty);
  slow.server.queue_behaviour(R"({"times":0,"delay_ms":150})");
  CHECK(slow.failure(some_hits(64)).kind == ErrorKind::timeout);

  hasty.budget = std::chrono::milliseconds(0);
  Tei none({}, hasty);
  const Error error = none.failure(some_hits(3));
  CHECK(error.kind == ErrorKind::timeout);
  CHECK(error.message == "reranker at " + none.server.url() + ": scored 0 of 3 texts within 0 ms");
  CHECK(error.hint.ends_with("or raise reranker.timeout (STOKA_RERANK_TIMEOUT)"));
  CHECK(none.server.requests().empty());
}

TEST_CASE("score() can be cancelled") {
  Tei fixture;
  std::stop_source stop;
  stop.request_stop();
  const auto scores = fixture.reranker.score(kQuery, some_hits(3), stop.get_token());
  REQUIRE_FALSE(scores.has_value());
  CHECK(scores.error().kind == ErrorKind::cancelled);
}

TEST_CASE("a key that the server repeats is masked in the error") {
  FakeUpstream server;
  server.queue_behaviour(R"({"status":501,"message":"not with sk-secret-7"})");
  TestUpstream upstream("reranker", server.url(), net::ApiRoot::versioned, kTestTimeout,
                        Secret("sk-secret-7"));
  JinaReranker reranker(*upstream, {});
  const auto scores = reranker.score(kQuery, some_hits(3), {});
  REQUIRE_FALSE(scores.has_value());
  CHECK(scores.error().message.ends_with(" is not a reranker: not with ***"));
}

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

TEST_CASE("a body that is not a list of scores gives an error that says why") {
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

}  // namespace remote_test
