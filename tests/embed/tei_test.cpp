#include "embed/tei.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "embed/remote_house.h"

namespace tei_test {

using namespace stoka;
using namespace stoka::embed;
using namespace stoka::testing;

namespace {

struct House {
  explicit House(FakeOptions options = {}, net::Milliseconds patience = kPatience)
      : server(options), upstream("embedder", server.url(), net::ApiRoot::plain, patience) {}

  // The answers to /info and the probe are remembered, the requests forgotten.
  void meet() {
    const auto identity = embedder.identity(Use::query, {});
    REQUIRE_MESSAGE(identity.has_value(), identity.error().message);
    server.reset();
  }
  Embedded embed(const std::vector<std::string>& texts) {
    auto embedded = embedder.embed_documents(texts, {}, {});
    REQUIRE_MESSAGE(embedded.has_value(), embedded.error().message);
    return std::move(*embedded);
  }
  Error failure(const std::vector<std::string>& texts) {
    const auto embedded = embedder.embed_documents(texts, {}, {});
    REQUIRE_FALSE(embedded.has_value());
    return embedded.error();
  }
  void info(const std::string& body) {
    server.behave(nlohmann::json{{"path", "/info"}, {"body", body}}.dump());
  }

  FakeUpstream server;
  TestUpstream upstream;
  FixedClock clock{Instant{}};
  TeiEmbedder embedder{*upstream, clock};
};

FakeOptions options(size_t most_batch, size_t most_text = 8192) {
  FakeOptions out;
  out.most_batch = most_batch;
  out.most_text = most_text;
  return out;
}

}  // namespace

TEST_CASE("the identity is model and revision of /info, and the dimension of a probe") {
  House house;
  CHECK(house.embedder.name() == "tei at " + house.server.url());
  CHECK(house.embedder.identity(Use::query, {}).value() == Identity{"tei:fake-model@5617a9f6", 64});
  house.clock.advance(std::chrono::seconds(59));
  CHECK(house.embedder.identity(Use::query, {}).has_value());
  CHECK(house.server.seen().size() == 2);
}

TEST_CASE("another model behind the address is noticed after a minute") {
  House house;
  house.meet();
  house.info(R"({"model_id":"other/model","model_sha":null})");
  house.clock.advance(std::chrono::seconds(60));
  CHECK(house.embedder.identity(Use::query, {}).value() == Identity{"tei:other/model", 64});
}

TEST_CASE("another model amid a run ends it") {
  House house(options(2));
  const auto embedded = house.embedder.embed_documents(
      some_texts(6),
      [&](size_t done) {
        if (done != 2) return;
        house.info(R"({"model_id":"other","max_client_batch_size":2})");
        house.clock.advance(std::chrono::seconds(61));
      },
      {});
  REQUIRE_FALSE(embedded.has_value());
  CHECK(embedded.error().kind == ErrorKind::config);
  CHECK(embedded.error().message.find("changed from tei:fake-model@5617a9f6") != std::string::npos);
  CHECK(embedded.error().message.find("to tei:other") != std::string::npos);
}

TEST_CASE("a server without /info is not text-embeddings-inference") {
  // Without one it is another kind of server; with nonsense there it may be one that is broken.
  for (const auto& [behaviour, kind] : std::vector<std::pair<std::string, ErrorKind>>{
           {R"({"path":"/info","status":404})", ErrorKind::config},
           {R"({"path":"/info","fault":"html"})", ErrorKind::protocol},
           {R"({"path":"/info","body":"{}"})", ErrorKind::protocol},
           {R"({"path":"/info","body":"[\"model_id\"]"})", ErrorKind::protocol},
           {R"({"path":"/info","fault":"truncated_json"})", ErrorKind::protocol}}) {
    CAPTURE(behaviour);
    House house;
    house.server.behave(behaviour);
    const auto identity = house.embedder.identity(Use::query, {});
    REQUIRE_FALSE(identity.has_value());
    CHECK(identity.error().kind == kind);
    CHECK(identity.error().message == "embedder at " + house.server.url() +
                                          " does not look like text-embeddings-inference: it has "
                                          "no /info");
    CHECK(identity.error().hint.find("embedder.kind = openai") != std::string::npos);
  }
}

TEST_CASE("what a server calls itself is cleaned and cut") {
  House house;
  house.info("{\"model_id\":\"a\\n\\u001b[31mb" + std::string(500, 'x') + "\"}");
  const std::string name = house.embedder.identity(Use::query, {}).value().name;
  CHECK(name.size() <= 204);
  CHECK(std::none_of(name.begin(), name.end(), [](char c) { return c >= 0 && c < ' '; }));
}

TEST_CASE("documents are never cut by the server, a query may be") {
  House house;
  house.meet();
  house.embed({"a document"});
  REQUIRE(house.embedder.embed_query("a query", {}).has_value());
  const auto sent = bodies(house.server, "/embed");
  REQUIRE(sent.size() == 2);
  CHECK(sent[0] == nlohmann::json{{"inputs", nlohmann::json::array({"a document"})},
                                  {"truncate", false},
                                  {"normalize", true}});
  CHECK(sent[1] == nlohmann::json{{"inputs", nlohmann::json::array({"a query"})},
                                  {"truncate", true},
                                  {"normalize", true}});
}

TEST_CASE("vectors are in the order of the texts and have unit length") {
  House house(options(4));
  const auto texts = some_texts(11);
  const Embedded embedded = house.embed(texts);
  CHECK(embedded.notes.empty());
  for (const Vector& vector : embedded.vectors)
    CHECK(cosine(vector, vector) == doctest::Approx(1).epsilon(1e-6));
  check_same_as_alone(house.embedder, texts, embedded);
}

TEST_CASE("many threads share an embedder") {
  House house(options(4));
  const auto texts = some_texts(9);
  std::vector<Result<Embedded>> all(4);
  {
    std::vector<std::jthread> threads;
    for (auto& one : all)
      threads.emplace_back([&] { one = house.embedder.embed_documents(texts, {}, {}); });
  }
  for (const auto& one : all) {
    REQUIRE_MESSAGE(one.has_value(), one.error().message);
    CHECK(one->vectors == all.front()->vectors);
  }
}

TEST_CASE("batches keep to the limits of /info") {
  const struct {
    std::string limits;
    size_t most;
  } cases[] = {
      {R"("max_client_batch_size":5,"max_concurrent_requests":512)", 5},
      {R"("max_client_batch_size":32,"max_concurrent_requests":48)", 3},  // four places
      {R"("max_client_batch_size":32,"max_concurrent_requests":1)", 1},
      {R"("max_client_batch_size":0)", 1},
      {R"("max_client_batch_size":"many")", 32},
  };
  for (const auto& one : cases) {
    CAPTURE(one.limits);
    House house;
    house.info(R"({"model_id":"m",)" + one.limits + "}");
    house.meet();
    house.embed(some_texts(40));
    size_t most = 0, all = 0;
    for (const auto& body : bodies(house.server, "/embed")) {
      most = std::max(most, body["inputs"].size());
      all += body["inputs"].size();
    }
    CHECK(most == one.most);
    CHECK(all == 40);
  }
}

TEST_CASE("no body is larger than the server takes") {
  House house(options(32, 1u << 20));
  house.embed(std::vector<std::string>(5, std::string(700'000, 'x')));
  for (const SeenRequest& request : house.server.seen()) CHECK(request.body.size() < 2'000'000);
}

TEST_CASE("a document that is too long is embedded in parts, and the others as they are") {
  House house(options(32, 100));
  std::vector<std::string> texts = some_texts(5);
  texts[3] =
      "first half of it about gardens and roses, roses, roses. and the second half is "
      "about engines and fuel";
  const Embedded embedded = house.embed(texts);
  REQUIRE(embedded.notes.size() == 1);
  CHECK(embedded.notes[0].text == 3);
  CHECK(embedded.notes[0].what == "longer than the model reads: embedded in 2 parts");
  CHECK(cosine(embedded.vectors[3], embedded.vectors[3]) == doctest::Approx(1));
  CHECK(house.embedder.embed_query(texts[3], {}).has_value());
}

TEST_CASE("poison is noted, and the others are embedded") {
  for (const std::string status : {"424", "500", "422"}) {
    CAPTURE(status);
    House house;
    house.meet();
    house.server.behave(R"({"fault":"poison","times":0,"status":)" + status + "}");
    std::vector<std::string> texts = some_texts(8);
    texts[5] += " poison";
    const Embedded embedded = house.embed(texts);
    REQUIRE(embedded.notes.size() == 1);
    CHECK(embedded.notes[0].text == 5);
    CHECK(embedded.notes[0].what == "refused: the model failed on its input");
    for (size_t i = 0; i < texts.size(); ++i) CHECK(embedded.vectors[i].empty() == (i == 5));
  }
}

TEST_CASE("zeros and nulls for a text are its refusal") {
  for (const std::string fault : {"zeros", "nulls", "nan"}) {
    CAPTURE(fault);
    House house;
    house.meet();
    house.server.behave(R"({"path":"/embed","times":2,"fault":")" + fault + "\"}");
    const Embedded embedded = house.embed(some_texts(2));
    REQUIRE(embedded.notes.size() == 1);
    CHECK(embedded.notes[0].text == 0);
    CHECK(embedded.notes[0].what ==
          (fault == "zeros" ? "refused: the server sent a vector of zeros"
                            : "refused: the server sent a vector with null or NaN in it"));
    CHECK(embedded.vectors[0].empty());
    CHECK_FALSE(embedded.vectors[1].empty());
  }
}

TEST_CASE("an answer that is no set of vectors is a protocol error") {
  const struct {
    std::string fault;
    std::string what;
  } cases[] = {
      {"wrong_count", "sent 2 vectors for 3 texts"},
      {"duplicate_index", "sent 4 vectors for 3 texts"},
      {"wrong_dim", "sent a vector of dimension 63 where 64 was due"},
      {"zeros", "sent a vector of zeros"},
      {"nulls", "sent a vector with null or NaN in it"},
      {"nan", "sent a vector with null or NaN in it"},
      {"html", "sent something that is not JSON"},
      {"truncated_json", "sent something that is not JSON"},
      {"empty", "sent something that is not JSON"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.fault);
    House house;
    house.meet();
    house.server.behave(R"({"path":"/embed","times":0,"fault":")" + one.fault + "\"}");
    const Error error = house.failure(some_texts(3));
    CHECK(error.kind == ErrorKind::protocol);
    CHECK(error.message == "embedder at " + house.server.url() + ": " + one.what);
  }
}

TEST_CASE("after a wrong dimension the server is met anew") {
  House house;
  house.meet();
  house.server.behave(R"({"path":"/embed","fault":"wrong_dim"})");
  house.failure({"one"});
  house.server.reset();
  house.embed({"one"});
  CHECK(house.server.seen().size() == 3);  // info, probe, text
}

TEST_CASE("a reranker is no embedder") {
  FakeOptions reranker;
  reranker.reranker = true;
  House house(reranker);
  const auto identity = house.embedder.identity(Use::query, {});
  REQUIRE_FALSE(identity.has_value());
  CHECK(identity.error().kind == ErrorKind::config);
  CHECK(identity.error().message ==
        "embedder at " + house.server.url() + " does not embed: Model is not an embedding model");
  CHECK_FALSE(identity.error().hint.empty());
  CHECK(house.failure({"text"}).kind == ErrorKind::config);
  CHECK(house.embedder.embed_query("text", {}).error().kind == ErrorKind::config);
}

TEST_CASE("a server that is down, silent or busy is what its error says") {
  House house;
  house.meet();
  house.server.behave(R"({"times":0,"status":503})");
  CHECK(house.failure({"text"}).kind == ErrorKind::unavailable);
  house.server.reset();
  house.server.behave(R"({"times":0,"fault":"close"})");
  CHECK(house.failure({"text"}).kind == ErrorKind::unavailable);
  House silent({}, net::Milliseconds(300));
  silent.server.behave(R"({"times":0,"fault":"hang"})");
  CHECK(silent.failure({"text"}).kind == ErrorKind::timeout);
}

TEST_CASE("a question has less time than an index run, and the hint names its setting") {
  FakeUpstream server;
  TestUpstream upstream("embedder", server.url(), net::ApiRoot::plain);
  const FixedClock clock{Instant{}};
  TeiEmbedder embedder(*upstream, clock, net::Milliseconds(100));
  const auto is_late = [](const Error& error) {
    CHECK(error.kind == ErrorKind::timeout);
    CHECK(error.hint.find("embedder.query_timeout (STOKA_EMBED_QUERY_TIMEOUT)") !=
          std::string::npos);
  };
  server.behave(R"({"path":"/info","times":0,"fault":"hang"})");
  is_late(embedder.identity(Use::query, {}).error());
  is_late(embedder.embed_query("text", {}).error());
  server.reset();
  server.behave(R"({"times":0,"delay_ms":150})");
  CHECK(embedder.identity(Use::document, {}).has_value());
  CHECK(embedder.embed_documents(some_texts(1), {}, {}).has_value());
  is_late(embedder.embed_query("text", {}).error());
}

TEST_CASE("nobody at the address is unavailable") {
  std::string url;
  {
    const FakeUpstream gone;
    url = gone.url();
  }
  TestUpstream upstream("embedder", url, net::ApiRoot::plain);
  const FixedClock clock{Instant{}};
  TeiEmbedder embedder(*upstream, clock);
  CHECK(embedder.identity(Use::query, {}).error().kind == ErrorKind::unavailable);
  CHECK(embedder.embed_query("text", {}).error().kind == ErrorKind::unavailable);
  CHECK(embedder.embed_documents(some_texts(1), {}, {}).error().kind == ErrorKind::unavailable);
}

TEST_CASE("a wrong key is not hidden behind the kind of server") {
  FakeOptions locked;
  locked.key = "right";
  House house(locked);
  CHECK(house.embedder.identity(Use::query, {}).error().kind == ErrorKind::config);
  CHECK(house.embedder.identity(Use::query, {}).error().message.find("look like") ==
        std::string::npos);
}

TEST_CASE("a key that the server repeats is not in a note") {
  FakeUpstream server;
  TestUpstream upstream("embedder", server.url(), net::ApiRoot::plain, kPatience,
                        Secret("sk-secret-7"));
  const FixedClock clock{Instant{}};
  TeiEmbedder embedder(*upstream, clock);
  REQUIRE(embedder.identity(Use::query, {}).has_value());
  server.behave(R"({"status":424,"message":"not with sk-secret-7"})");
  const auto embedded = embedder.embed_documents(some_texts(1), {}, {});
  REQUIRE(embedded.has_value());
  REQUIRE(embedded->notes.size() == 1);
  CHECK(embedded->notes[0].what == "refused: not with ***");
}

TEST_CASE("a stop amid a run ends it") {
  House house(options(2));
  std::stop_source stop;
  const auto embedded = house.embedder.embed_documents(
      some_texts(10), [&](size_t) { stop.request_stop(); }, stop.get_token());
  REQUIRE_FALSE(embedded.has_value());
  CHECK(embedded.error().kind == ErrorKind::cancelled);
  CHECK(house.server.seen().size() <= 4);  // info, probe, one batch, perhaps the next
}

}  // namespace tei_test
