#include "rerank/remote.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/json.h"
#include "support/test_upstream.h"
#include "support/upstream/fake_upstream.h"

namespace remote_test {

using namespace stoka;
using namespace stoka::rerank;
using namespace stoka::testing;

namespace {

Hit hit(std::string title, std::string section, std::string content) {
  Hit out;
  out.chunk.title = std::move(title);
  out.chunk.section = std::move(section);
  out.chunk.content = std::move(content);
  return out;
}

// The last one has all words of kQuery, the one before half of them.
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
struct House {
  explicit House(FakeOptions options = {}, RemoteOptions how = {})
      : server(options),
        upstream("reranker", server.url(),
                 std::is_same_v<Kind, TeiReranker> ? net::ApiRoot::plain : net::ApiRoot::versioned),
        reranker(*upstream, std::move(how)) {}

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
    for (const SeenRequest& request : server.seen())
      out.push_back(nlohmann::json::parse(request.body));
    return out;
  }

  FakeUpstream server;
  TestUpstream upstream;
  Kind reranker;
};

using Tei = House<TeiReranker>;
using Jina = House<JinaReranker>;

void check_last_is_best(const Scores& scores) {
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

TEST_CASE("tei: what is asked") {
  Tei house;
  CHECK(house.reranker.name() == "tei at " + house.server.url());
  house.scores({hit("Title", "Section", "Content"), hit("Title", "", "Content")});
  CHECK(house.server.seen()[0].path == "/rerank");
  CHECK(house.bodies() ==
        std::vector<nlohmann::json>{{{"query", kQuery},
                                     {"texts", {"Title\nSection\nContent", "Title\nContent"}},
                                     {"raw_scores", false},
                                     {"truncate", true}}});
}

TEST_CASE("jina: what is asked, and no fields of one vendor") {
  RemoteOptions named;
  named.model = "some-model";
  FakeOptions options;
  options.model = "some-model";
  Jina house(options, named);
  CHECK(house.reranker.name() == "jina at " + house.server.url() + "/v1");
  house.scores({hit("Title", "Section", "Content"), hit("Title", "", "Content")});
  Jina nameless;
  nameless.scores({hit("", "", "Content"), hit("Title", "", "")});
  CHECK(house.server.seen()[0].path == "/v1/rerank");
  CHECK(house.bodies() ==
        std::vector<nlohmann::json>{{{"query", kQuery},
                                     {"documents", {"Title\nSection\nContent", "Title\nContent"}},
                                     {"top_n", 2},
                                     {"model", "some-model"}}});
  CHECK(nameless.bodies() ==
        std::vector<nlohmann::json>{
            {{"query", kQuery}, {"documents", {"Content", "Title"}}, {"top_n", 2}}});
}

TEST_CASE("scores go to the hits that they belong to, whatever the order and number of answers") {
  for (const size_t count : {2u, 5u, 32u, 33u, 64u}) {
    CAPTURE(count);
    Tei tei;
    check_last_is_best(tei.scores(some_hits(count)));
    CHECK(tei.server.seen().size() == (count + 31) / 32);
    Jina jina;
    check_last_is_best(jina.scores(some_hits(count)));
  }
}

TEST_CASE("logits become scores, over all batches together") {
  for (const std::string dialect : {"llamacpp", "vllm", "openai"}) {
    CAPTURE(dialect);
    FakeOptions options;
    options.dialect = dialect;
    options.logits = true;
    RemoteOptions how;
    how.model = options.model;
    Jina house(options, how);
    check_last_is_best(house.scores(some_hits(40)));
  }
  Tei house;
  house.server.behave(R"({"body":"[{\"index\":0,\"score\":0.5},{\"index\":1,\"score\":-2}]"})");
  const Scores scores = house.scores(some_hits(2));
  CHECK(*scores[0] == doctest::Approx(0.6224593));
  CHECK(*scores[1] == doctest::Approx(0.1192029));
}

TEST_CASE("a hit that the server did not score is unscored, the others are scored") {
  for (const std::string fault : {"nulls", "nan", "sentinel", "wrong_count"}) {
    CAPTURE(fault);
    Jina house;
    house.server.behave(R"({"fault":")" + fault + "\"}");
    const Scores scores = house.scores(some_hits(4));
    CHECK(std::count(scores.begin(), scores.end(), std::nullopt) == 1);
    for (const auto& score : scores) CHECK(score.value_or(0) <= 1);
  }
}

TEST_CASE("only the best by retrieval are asked for, the rest is unscored") {
  RemoteOptions few;
  few.most_hits = 3;
  Tei house({}, few);
  const Scores scores = house.scores(some_hits(5));
  CHECK(scores[2].has_value());
  CHECK_FALSE(scores[3].has_value());
  CHECK_FALSE(scores[4].has_value());
  CHECK(house.bodies()[0]["texts"].size() == 3);
}

TEST_CASE("no hits are no question") {
  Tei house;
  CHECK(house.scores({}).empty());
  CHECK(house.server.seen().empty());
}

TEST_CASE("a text is cut at a character") {
  RemoteOptions brief;
  brief.most_text = 10;
  Jina house({}, brief);
  house.scores({hit("\u00e9\u00e9", "", "\u00e9\u00e9\u00e9\u00e9"), hit("0123456789", "", "x")});
  CHECK(house.bodies()[0]["documents"] ==
        nlohmann::json{"\u00e9\u00e9\n\u00e9\u00e9", "0123456789"});
}

TEST_CASE("what is too long is cut in half and asked again, twice at most") {
  const struct {
    size_t most;
    bool scored;
    size_t asked;
  } cases[] = {{620, true, 2}, {320, true, 3}, {200, false, 3}};
  for (const std::string dialect : {"llamacpp", "vllm"})
    for (const auto& one : cases) {
      CAPTURE(dialect);
      CAPTURE(one.most);
      FakeOptions options;
      options.dialect = dialect;
      options.most_text = one.most;
      RemoteOptions how;
      how.most_text = 1200;
      Jina house(options, how);
      std::vector<Hit> hits = some_hits(3);
      hits[1].chunk.content = std::string(5000, 'x');
      const auto scores = house.reranker.score(kQuery, hits, {});
      CHECK(scores.has_value() == one.scored);
      CHECK(house.server.seen().size() == one.asked);
      CHECK(house.bodies().back()["documents"][1].get<std::string>().size() ==
            1200u >> (one.asked - 1));
    }
}

TEST_CASE("tei: fewer texts are asked for where the server takes fewer") {
  FakeOptions small;
  small.most_batch = 5;
  Tei house(small);
  check_last_is_best(house.scores(some_hits(20)));
  for (const SeenRequest& request : house.server.seen())
    CHECK(nlohmann::json::parse(request.body)["texts"].size() <= 32);
  CHECK(house.server.seen().size() == 6);  // 20, 10, and four times 5
}

TEST_CASE("an answer that makes no sense is a protocol error") {
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
    Tei house;
    house.server.behave(one.behaviour);
    const Error error = house.failure(some_hits(3));
    CHECK(error.kind == ErrorKind::protocol);
    CHECK(error.message.starts_with("reranker at " + house.server.url()));
    CHECK(error.message.find(one.what) != std::string::npos);
  }
}

TEST_CASE("a server that is no reranker is named so") {
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
    Jina house;
    house.server.behave(nlohmann::json{{"status", one.status}, {"message", one.message}}.dump());
    const Error error = house.failure(some_hits(3));
    CHECK(error.kind == ErrorKind::config);
    CHECK(error.message ==
          "reranker at " + house.server.url() + "/v1 is no reranker: " + one.message);
    CHECK(error.hint ==
          "serve a cross-encoder there, or set reranker.url (STOKA_RERANK_URL) to one");
  }
}

TEST_CASE("a server without the endpoint may be of the other kind") {
  const struct {
    int status;
    std::string message, what;
  } cases[] = {{404, "page not found", "page not found"}, {405, "", "status 405"}};
  for (const auto& one : cases) {
    CAPTURE(one.what);
    nlohmann::json behaviour = {{"status", one.status}, {"body", one.message}};
    Jina jina;
    jina.server.behave(behaviour.dump());
    const Error of_jina = jina.failure(some_hits(3));
    CHECK(of_jina.kind == ErrorKind::config);
    CHECK(of_jina.message ==
          "reranker at " + jina.server.url() + "/v1 is no reranker: " + one.what);
    CHECK(of_jina.hint ==
          "for text-embeddings-inference set reranker.kind = tei (STOKA_RERANKER); else serve a "
          "reranker there, or set reranker.url (STOKA_RERANK_URL)");
    Tei tei;
    tei.server.behave(behaviour.dump());
    const Error of_tei = tei.failure(some_hits(3));
    CHECK(of_tei.message == "reranker at " + tei.server.url() + " is no reranker: " + one.what);
    CHECK(of_tei.hint ==
          "leave /v1 out of reranker.url (STOKA_RERANK_URL), or for a server with /v1/rerank set "
          "reranker.kind = jina (STOKA_RERANKER)");
  }
}

TEST_CASE("a server that wants a model is told with the setting") {
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
    jina.server.behave(behaviour);
    const Error of_jina = jina.failure(some_hits(3));
    CHECK(of_jina.kind == ErrorKind::config);
    CHECK(of_jina.message ==
          "reranker at " + jina.server.url() + "/v1 wants a model that it knows: " + one.what);
    CHECK(of_jina.hint == "set reranker.model (STOKA_RERANK_MODEL)");
    Tei tei;
    tei.server.behave(behaviour);
    const Error of_tei = tei.failure(some_hits(3));
    CHECK(of_tei.kind == ErrorKind::config);
    CHECK(of_tei.hint.ends_with("jina (STOKA_RERANKER), and reranker.model (STOKA_RERANK_MODEL)"));
  }
  Jina wordy;
  wordy.server.behave(
      R"({"status":400,"times":0,"message":"this model's maximum context length is 512 tokens"})");
  CHECK(wordy.failure(some_hits(3)).kind == ErrorKind::protocol);
}

TEST_CASE("a model that fails is not taken for another kind of server") {
  Tei house;
  house.server.behave(R"({"status":424,"message":"score is NaN"})");
  CHECK(house.failure(some_hits(3)).kind == ErrorKind::protocol);
}

TEST_CASE("a server that is down or closes is unavailable") {
  Tei house;
  house.server.behave(R"({"times":0,"status":503})");
  CHECK(house.failure(some_hits(3)).kind == ErrorKind::unavailable);
  house.server.reset();
  house.server.behave(R"({"times":0,"fault":"close"})");
  CHECK(house.failure(some_hits(3)).kind == ErrorKind::unavailable);
  house.server.reset();
  check_last_is_best(house.scores(some_hits(3)));
}

TEST_CASE("the budget ends it, over all batches") {
  RemoteOptions hasty;
  hasty.budget = std::chrono::milliseconds(200);
  Tei silent({}, hasty);
  silent.server.behave(R"({"fault":"hang"})");
  const Error unanswered = silent.failure(some_hits(3));
  CHECK(unanswered.kind == ErrorKind::timeout);
  CHECK(unanswered.hint.ends_with("or raise reranker.timeout (STOKA_RERANK_TIMEOUT)"));

  Tei slow({}, hasty);
  slow.server.behave(R"({"times":0,"delay_ms":150})");
  CHECK(slow.failure(some_hits(64)).kind == ErrorKind::timeout);

  hasty.budget = std::chrono::milliseconds(0);
  Tei none({}, hasty);
  const Error error = none.failure(some_hits(3));
  CHECK(error.kind == ErrorKind::timeout);
  CHECK(error.message == "reranker at " + none.server.url() + ": scored 0 of 3 texts within 0 ms");
  CHECK(error.hint.ends_with("or raise reranker.timeout (STOKA_RERANK_TIMEOUT)"));
  CHECK(none.server.seen().empty());
}

TEST_CASE("a stop ends it") {
  Tei house;
  std::stop_source stop;
  stop.request_stop();
  const auto scores = house.reranker.score(kQuery, some_hits(3), stop.get_token());
  REQUIRE_FALSE(scores.has_value());
  CHECK(scores.error().kind == ErrorKind::cancelled);
}

TEST_CASE("a key that the server repeats is not in the error") {
  FakeUpstream server;
  server.behave(R"({"status":501,"message":"not with sk-secret-7"})");
  TestUpstream upstream("reranker", server.url(), net::ApiRoot::versioned, kPatience,
                        Secret("sk-secret-7"));
  JinaReranker reranker(*upstream, {});
  const auto scores = reranker.score(kQuery, some_hits(3), {});
  REQUIRE_FALSE(scores.has_value());
  CHECK(scores.error().message.ends_with(" is no reranker: not with ***"));
}

}  // namespace remote_test
