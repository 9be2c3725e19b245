#include "embed/tei.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "embed/remote_fixture.h"

namespace tei_test {

using namespace stoka;
using namespace stoka::embed;
using namespace stoka::testing;

namespace {

struct Fixture {
  explicit Fixture(FakeOptions options = {}, net::Milliseconds timeout = kTestTimeout)
      : server(options), upstream("embedder", server.url(), net::ApiRoot::plain, timeout) {}

  void connect() { testing::connect(embedder, server); }
  Embeddings embed(const std::vector<std::string>& texts) { return embed_all(embedder, texts); }
  Error failure(const std::vector<std::string>& texts) {
    const auto embedded = embedder.embed_documents(texts, {}, {});
    REQUIRE_FALSE(embedded.has_value());
    return embedded.error();
  }
  void info(const std::string& body) {
    server.queue_behaviour(nlohmann::json{{"path", "/info"}, {"body", body}}.dump());
  }

  FakeUpstream server;
  TestUpstream upstream;
  FixedClock clock{Instant{}};
  TeiEmbedder embedder{*upstream, clock};
};

FakeOptions options(size_t max_batch, size_t max_text = 8192) {
  FakeOptions out;
  out.max_batch = max_batch;
  out.max_text_bytes = max_text;
  return out;
}

}  // namespace

TEST_CASE(
    "tei: the identity has model and revision from /info and the dimension of a test vector") {
  Fixture fixture;
  CHECK(fixture.embedder.name() == "tei at " + fixture.server.url());
  CHECK(fixture.embedder.identity(InputType::query, {}).value() ==
        Identity{"tei:fake-model@5617a9f6", 64});
  fixture.clock.advance(std::chrono::seconds(59));
  CHECK(fixture.embedder.identity(InputType::query, {}).has_value());
  CHECK(fixture.server.requests().size() == 2);
}

TEST_CASE("tei: a new model behind the address is noticed after a minute") {
  Fixture fixture;
  fixture.connect();
  fixture.info(R"({"model_id":"other/model","model_sha":null})");
  fixture.clock.advance(std::chrono::seconds(60));
  CHECK(fixture.embedder.identity(InputType::query, {}).value() == Identity{"tei:other/model", 64});
}

TEST_CASE("tei: embed_documents fails if the model changes before it is done") {
  Fixture fixture(options(2));
  const auto embedded = fixture.embedder.embed_documents(
      some_texts(6),
      [&](size_t done) {
        if (done != 2) return;
        fixture.info(R"({"model_id":"other","max_client_batch_size":2})");
        fixture.clock.advance(std::chrono::seconds(61));
      },
      {});
  REQUIRE_FALSE(embedded.has_value());
  CHECK(embedded.error().kind == ErrorKind::config);
  CHECK(embedded.error().message.find("changed from tei:fake-model@5617a9f6") != std::string::npos);
  CHECK(embedded.error().message.find("to tei:other") != std::string::npos);
}

TEST_CASE("tei: a server without a valid /info gives an error that names embedder.kind") {
  // A server without /info is another kind of server; one with an invalid /info may be broken.
  for (const auto& [behaviour, kind] : std::vector<std::pair<std::string, ErrorKind>>{
           {R"({"path":"/info","status":404})", ErrorKind::config},
           {R"({"path":"/info","fault":"html"})", ErrorKind::protocol},
           {R"({"path":"/info","body":"{}"})", ErrorKind::protocol},
           {R"({"path":"/info","body":"[\"model_id\"]"})", ErrorKind::protocol},
           {R"({"path":"/info","fault":"truncated_json"})", ErrorKind::protocol}}) {
    CAPTURE(behaviour);
    Fixture fixture;
    fixture.server.queue_behaviour(behaviour);
    const auto identity = fixture.embedder.identity(InputType::query, {});
    REQUIRE_FALSE(identity.has_value());
    CHECK(identity.error().kind == kind);
    CHECK(identity.error().message == "embedder at " + fixture.server.url() +
                                          " does not look like text-embeddings-inference: it has "
                                          "no /info");
    CHECK(identity.error().hint.find("embedder.kind = openai") != std::string::npos);
  }
}

TEST_CASE("tei: the model name from the server is cleaned and cut") {
  Fixture fixture;
  fixture.info("{\"model_id\":\"a\\n\\u001b[31mb" + std::string(500, 'x') + "\"}");
  const std::string name = fixture.embedder.identity(InputType::query, {}).value().name;
  CHECK(name.size() <= 204);
  CHECK(std::none_of(name.begin(), name.end(), [](char c) { return c >= 0 && c < ' '; }));
}

TEST_CASE("tei: the server may truncate a query, but not a document") {
  Fixture fixture;
  fixture.connect();
  fixture.embed({"a document"});
  REQUIRE(fixture.embedder.embed_query("a query", {}).has_value());
  const auto sent = request_bodies(fixture.server, "/embed");
  REQUIRE(sent.size() == 2);
  CHECK(sent[0] == nlohmann::json{{"inputs", nlohmann::json::array({"a document"})},
                                  {"truncate", false},
                                  {"normalize", true}});
  CHECK(sent[1] == nlohmann::json{{"inputs", nlohmann::json::array({"a query"})},
                                  {"truncate", true},
                                  {"normalize", true}});
}

TEST_CASE("tei: vectors are in the order of the texts and have unit length") {
  Fixture fixture(options(4));
  const auto texts = some_texts(11);
  const Embeddings embedded = fixture.embed(texts);
  CHECK(embedded.warnings.empty());
  for (const Vector& vector : embedded.vectors)
    CHECK(cosine(vector, vector) == doctest::Approx(1).epsilon(1e-6));
  check_order(fixture.embedder, texts, embedded);
}

TEST_CASE("tei: several threads may share an embedder") {
  Fixture fixture(options(4));
  const auto texts = some_texts(9);
  std::vector<Result<Embeddings>> all(4);
  {
    std::vector<std::jthread> threads;
    for (auto& one : all)
      threads.emplace_back([&] { one = fixture.embedder.embed_documents(texts, {}, {}); });
  }
  for (const auto& one : all) {
    REQUIRE_MESSAGE(one.has_value(), one.error().message);
    CHECK(one->vectors == all.front()->vectors);
  }
}

TEST_CASE("tei: batches respect the limits from /info") {
  const struct {
    std::string limits;
    size_t expected;
  } cases[] = {
      {R"("max_client_batch_size":5,"max_concurrent_requests":512)", 5},
      {R"("max_client_batch_size":32,"max_concurrent_requests":48)", 3},  // shared by four requests
      {R"("max_client_batch_size":32,"max_concurrent_requests":1)", 1},
      {R"("max_client_batch_size":0)", 1},
      {R"("max_client_batch_size":"many")", 32},
  };
  for (const auto& one : cases) {
    CAPTURE(one.limits);
    Fixture fixture;
    fixture.info(R"({"model_id":"m",)" + one.limits + "}");
    fixture.connect();
    fixture.embed(some_texts(40));
    size_t largest = 0, all = 0;
    for (const auto& body : request_bodies(fixture.server, "/embed")) {
      largest = std::max(largest, body["inputs"].size());
      all += body["inputs"].size();
    }
    CHECK(largest == one.expected);
    CHECK(all == 40);
  }
}

TEST_CASE("tei: no request body exceeds 2 MB") {
  Fixture fixture(options(32, 1u << 20));
  fixture.embed(std::vector<std::string>(5, std::string(700'000, 'x')));
  for (const SeenRequest& request : fixture.server.requests())
    CHECK(request.body.size() < 2'000'000);
}

TEST_CASE("tei: a document that is too long is embedded in parts") {
  Fixture fixture(options(32, 100));
  std::vector<std::string> texts = some_texts(5);
  texts[3] =
      "first half of it about gardens and roses, roses, roses. and the second half is "
      "about engines and fuel";
  const Embeddings embedded = fixture.embed(texts);
  REQUIRE(embedded.warnings.size() == 1);
  CHECK(embedded.warnings[0].text == 3);
  CHECK(embedded.warnings[0].message == "longer than the model reads: embedded in 2 parts");
  CHECK(cosine(embedded.vectors[3], embedded.vectors[3]) == doctest::Approx(1));
  CHECK(fixture.embedder.embed_query(texts[3], {}).has_value());
}

TEST_CASE("tei: a refused text gets a warning, and the other texts are embedded") {
  for (const std::string status : {"424", "500", "422"}) {
    CAPTURE(status);
    Fixture fixture;
    fixture.connect();
    fixture.server.queue_behaviour(R"({"fault":"poison","times":0,"status":)" + status + "}");
    std::vector<std::string> texts = some_texts(8);
    texts[5] += " poison";
    const Embeddings embedded = fixture.embed(texts);
    REQUIRE(embedded.warnings.size() == 1);
    CHECK(embedded.warnings[0].text == 5);
    CHECK(embedded.warnings[0].message == "refused: the model failed on its input");
    for (size_t i = 0; i < texts.size(); ++i) CHECK(embedded.vectors[i].empty() == (i == 5));
  }
}

TEST_CASE("tei: a vector of zeros, nulls or NaN counts as a refusal of the text") {
  for (const std::string fault : {"zeros", "nulls", "nan"}) {
    CAPTURE(fault);
    Fixture fixture;
    fixture.connect();
    fixture.server.queue_behaviour(R"({"path":"/embed","times":2,"fault":")" + fault + "\"}");
    const Embeddings embedded = fixture.embed(some_texts(2));
    REQUIRE(embedded.warnings.size() == 1);
    CHECK(embedded.warnings[0].text == 0);
    CHECK(embedded.warnings[0].message ==
          (fault == "zeros" ? "refused: the server sent a vector of zeros"
                            : "refused: the server sent a vector with null or NaN in it"));
    CHECK(embedded.vectors[0].empty());
    CHECK_FALSE(embedded.vectors[1].empty());
  }
}

TEST_CASE("tei: a response without valid vectors gives a protocol error") {
  const struct {
    std::string fault;
    std::string what;
  } cases[] = {
      {"wrong_count", "sent 2 vectors for 3 texts"},
      {"duplicate_index", "sent 4 vectors for 3 texts"},
      {"wrong_dim", "sent a vector of dimension 63 where 64 was expected"},
      {"zeros", "sent a vector of zeros"},
      {"nulls", "sent a vector with null or NaN in it"},
      {"nan", "sent a vector with null or NaN in it"},
      {"html", "sent something that is not JSON"},
      {"truncated_json", "sent something that is not JSON"},
      {"empty", "sent something that is not JSON"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.fault);
    Fixture fixture;
    fixture.connect();
    fixture.server.queue_behaviour(R"({"path":"/embed","times":0,"fault":")" + one.fault + "\"}");
    const Error error = fixture.failure(some_texts(3));
    CHECK(error.kind == ErrorKind::protocol);
    CHECK(error.message == "embedder at " + fixture.server.url() + ": " + one.what);
  }
}

TEST_CASE("tei: after a vector of the wrong dimension the server is asked for its model again") {
  Fixture fixture;
  fixture.connect();
  fixture.server.queue_behaviour(R"({"path":"/embed","fault":"wrong_dim"})");
  fixture.failure({"one"});
  fixture.server.reset();
  fixture.embed({"one"});
  CHECK(fixture.server.requests().size() == 3);  // /info, the probe, the text
}

TEST_CASE("tei: a server that runs a reranker gives a config error") {
  FakeOptions reranker;
  reranker.reranker = true;
  Fixture fixture(reranker);
  const auto identity = fixture.embedder.identity(InputType::query, {});
  REQUIRE_FALSE(identity.has_value());
  CHECK(identity.error().kind == ErrorKind::config);
  CHECK(identity.error().message ==
        "embedder at " + fixture.server.url() +
            " does not run an embedding model: Model is not an embedding model");
  CHECK_FALSE(identity.error().hint.empty());
  CHECK(fixture.failure({"text"}).kind == ErrorKind::config);
  CHECK(fixture.embedder.embed_query("text", {}).error().kind == ErrorKind::config);
}

TEST_CASE(
    "tei: a server that is down gives the error unavailable, one that does not answer a timeout") {
  Fixture fixture;
  fixture.connect();
  fixture.server.queue_behaviour(R"({"times":0,"status":503})");
  CHECK(fixture.failure({"text"}).kind == ErrorKind::unavailable);
  fixture.server.reset();
  fixture.server.queue_behaviour(R"({"times":0,"fault":"close"})");
  CHECK(fixture.failure({"text"}).kind == ErrorKind::unavailable);
  Fixture silent({}, net::Milliseconds(300));
  silent.server.queue_behaviour(R"({"times":0,"fault":"hang"})");
  CHECK(silent.failure({"text"}).kind == ErrorKind::timeout);
}

TEST_CASE("tei: a query has a shorter deadline than documents, and the hint names its setting") {
  FakeUpstream server;
  TestUpstream upstream("embedder", server.url(), net::ApiRoot::plain);
  const FixedClock clock{Instant{}};
  TeiEmbedder embedder(*upstream, clock, net::Milliseconds(100));
  const auto check_timeout = [](const Error& error) {
    CHECK(error.kind == ErrorKind::timeout);
    CHECK(error.hint.find("embedder.query_timeout (STOKA_EMBED_QUERY_TIMEOUT)") !=
          std::string::npos);
  };
  server.queue_behaviour(R"({"path":"/info","times":0,"fault":"hang"})");
  check_timeout(embedder.identity(InputType::query, {}).error());
  check_timeout(embedder.embed_query("text", {}).error());
  server.reset();
  server.queue_behaviour(R"({"times":0,"delay_ms":150})");
  CHECK(embedder.identity(InputType::document, {}).has_value());
  CHECK(embedder.embed_documents(some_texts(1), {}, {}).has_value());
  check_timeout(embedder.embed_query("text", {}).error());
}

TEST_CASE("tei: without a server at the address the error is unavailable") {
  std::string url;
  {
    const FakeUpstream stopped;
    url = stopped.url();
  }
  TestUpstream upstream("embedder", url, net::ApiRoot::plain);
  const FixedClock clock{Instant{}};
  TeiEmbedder embedder(*upstream, clock);
  CHECK(embedder.identity(InputType::query, {}).error().kind == ErrorKind::unavailable);
  CHECK(embedder.embed_query("text", {}).error().kind == ErrorKind::unavailable);
  CHECK(embedder.embed_documents(some_texts(1), {}, {}).error().kind == ErrorKind::unavailable);
}

TEST_CASE("tei: a wrong key gives an error about the key, not about another kind of server") {
  FakeOptions locked;
  locked.key = "right";
  Fixture fixture(locked);
  CHECK(fixture.embedder.identity(InputType::query, {}).error().kind == ErrorKind::config);
  CHECK(fixture.embedder.identity(InputType::query, {}).error().message.find("look like") ==
        std::string::npos);
}

TEST_CASE("tei: a key that the server repeats is masked in a warning") {
  FakeUpstream server;
  TestUpstream upstream("embedder", server.url(), net::ApiRoot::plain, kTestTimeout,
                        Secret("sk-secret-7"));
  const FixedClock clock{Instant{}};
  TeiEmbedder embedder(*upstream, clock);
  REQUIRE(embedder.identity(InputType::query, {}).has_value());
  server.queue_behaviour(R"({"status":424,"message":"not with sk-secret-7"})");
  const auto embedded = embedder.embed_documents(some_texts(1), {}, {});
  REQUIRE(embedded.has_value());
  REQUIRE(embedded->warnings.size() == 1);
  CHECK(embedded->warnings[0].message == "refused: not with ***");
}

TEST_CASE("tei: embed_documents can be cancelled between batches") {
  Fixture fixture(options(2));
  std::stop_source stop;
  const auto embedded = fixture.embedder.embed_documents(
      some_texts(10), [&](size_t) { stop.request_stop(); }, stop.get_token());
  REQUIRE_FALSE(embedded.has_value());
  CHECK(embedded.error().kind == ErrorKind::cancelled);
  CHECK(fixture.server.requests().size() <= 4);  // /info, the probe, one batch, perhaps the next
}

}  // namespace tei_test
