#include "embed/openai.h"

#include <doctest/doctest.h>

#include "embed/remote_fixture.h"

namespace openai_test {

using namespace stoka;
using namespace stoka::embed;
using namespace stoka::testing;

namespace {

struct Fixture {
  explicit Fixture(OpenAiOptions embedder_options = {}, FakeOptions server_options = {})
      : server(server_options),
        upstream("embedder", server.url(), net::ApiRoot::versioned),
        embedder(*upstream, std::move(embedder_options), clock) {}

  void connect() { testing::connect(embedder, server); }
  Embeddings embed(const std::vector<std::string>& texts) { return embed_all(embedder, texts); }
  void models(const std::string& body, int status = 200) {
    server.queue_behaviour(
        nlohmann::json{{"path", "/models"}, {"body", body}, {"status", status}}.dump());
  }

  FakeUpstream server;
  TestUpstream upstream;
  FixedClock clock{Instant{}};
  OpenAiEmbedder embedder;
};

FakeOptions dialect(const std::string& name, size_t max_text = 8192) {
  FakeOptions out;
  out.dialect = name;
  out.max_text_bytes = max_text;
  return out;
}

}  // namespace

TEST_CASE("openai: the identity has the model and the dimension of a test vector") {
  Fixture fixture({"fake-model"});
  CHECK(fixture.embedder.name() == "openai at " + fixture.server.url() + "/v1");
  CHECK(fixture.embedder.identity(InputType::query, {}).value() ==
        Identity{"openai:fake-model", 64});
  CHECK(fixture.embedder.identity(InputType::query, {}).has_value());
  CHECK(fixture.server.requests().size() == 1);
  fixture.clock.advance(std::chrono::seconds(60));
  CHECK(fixture.embedder.identity(InputType::query, {}).has_value());
  CHECK(fixture.server.requests().size() == 2);
}

TEST_CASE("openai: without a configured model the only model of the server is used") {
  for (const std::string name : {"vllm", "llamacpp", "ollama", "lmstudio", "openai"}) {
    CAPTURE(name);
    Fixture fixture({}, dialect(name));
    CHECK(fixture.embedder.identity(InputType::query, {}).value().name == "openai:fake-model");
    CHECK(request_bodies(fixture.server, "/embeddings")[0]["model"] == "fake-model");
  }
}

TEST_CASE("openai: if the server has no model list or not one model, a model must be configured") {
  const struct {
    std::string body;
    std::string what;
    int status = 200;
  } cases[] = {
      {R"({"data":[{"id":"a"},{"id":"b"}]})", " serves several models: a, b"},
      {R"({"data":[{"id":"1"},{"id":"2"},{"id":"3"},{"id":"4"},{"id":"5"},{"id":"6"},{"id":"7"},
          {"id":"8"},{"id":"9"},{"id":"10"}]})",
       " serves several models: 1, 2, 3, 4, 5, 6, 7, 8 and 2 more"},
      {R"({"data":[]})", " lists no model"},
      {R"({"data":[7,{"id":8}]})", " lists no model"},
      {"{}", " does not list its models (404)", 404},
      {"", " does not list its models (405)", 405},
  };
  for (const auto& one : cases) {
    CAPTURE(one.body);
    Fixture fixture;
    fixture.models(one.body, one.status);
    const auto identity = fixture.embedder.identity(InputType::query, {});
    REQUIRE_FALSE(identity.has_value());
    CHECK(identity.error().kind == ErrorKind::config);
    CHECK(identity.error().message == "embedder at " + fixture.server.url() + "/v1" + one.what);
    const std::string set_model = "set embedder.model (STOKA_EMBED_MODEL)";
    const std::string no_list =
        "check embedder.url (STOKA_EMBED_URL); for text-embeddings-inference set embedder.kind = "
        "tei (STOKA_EMBEDDER); if the server has no list of models, " +
        set_model;
    CHECK(identity.error().hint == (one.status == 200 ? set_model : no_list));
  }
}

TEST_CASE("openai: a request has model, input and encoding_format") {
  Fixture fixture({"fake-model"});
  fixture.connect();
  REQUIRE(fixture.embedder.embed_query("a \"query\"", {}).has_value());
  CHECK(request_bodies(fixture.server, "/v1/embeddings") ==
        std::vector<nlohmann::json>{{{"model", "fake-model"},
                                     {"input", nlohmann::json::array({"a \"query\""})},
                                     {"encoding_format", "float"}}});
}

TEST_CASE("openai: vectors are in the order of the texts, whatever the order in the response") {
  Fixture fixture({"fake-model", 0, 4});
  const auto texts = some_texts(11);
  const Embeddings embedded = fixture.embed(texts);
  CHECK(embedded.warnings.empty());
  check_order(fixture.embedder, texts, embedded);
  for (const auto& body : request_bodies(fixture.server, "/embeddings"))
    CHECK(body["input"].size() <= 4);
}

TEST_CASE("openai: a base64 embedding is read") {
  Fixture fixture({"fake-model"});
  fixture.server.queue_behaviour(
      R"({"times":2,"body":"{\"data\":[{\"index\":0,\"embedding\":\"AACAPwAAAMAAAAA/\"}]}"})");
  const Vector vector = fixture.embedder.embed_query("text", {}).value();
  REQUIRE(vector.size() == 3);
  CHECK(vector[1] == doctest::Approx(-2 / std::sqrt(5.25)));
}

TEST_CASE("openai: configured dimensions are requested, and another dimension gives an error") {
  Fixture fixture({"fake-model", 16});
  CHECK(fixture.embedder.identity(InputType::query, {}).value().dim == 16);
  CHECK(request_bodies(fixture.server, "/embeddings")[0]["dimensions"] == 16);

  Fixture disobedient({"fake-model", 2});
  disobedient.server.queue_behaviour(
      R"({"body":"{\"data\":[{\"index\":0,\"embedding\":[1,2,3]}]}"})");
  const auto identity = disobedient.embedder.identity(InputType::query, {});
  REQUIRE_FALSE(identity.has_value());
  CHECK(identity.error().message.ends_with("sent a vector of dimension 3 where 2 was expected"));
}

TEST_CASE(
    "openai: a text that is too long is embedded in parts, with the error format of each server") {
  for (const std::string name : {"vllm", "llamacpp", "openai"}) {
    CAPTURE(name);
    Fixture fixture({"fake-model"}, dialect(name, 100));
    std::vector<std::string> texts = some_texts(3);
    texts[1] =
        "first half of it about gardens and roses, roses, roses. and the second half is "
        "about engines and fuel";
    const Embeddings embedded = fixture.embed(texts);
    REQUIRE(embedded.warnings.size() == 1);
    CHECK(embedded.warnings[0].text == 1);
    CHECK(embedded.warnings[0].message == "longer than the model reads: embedded in 2 parts");
    CHECK(fixture.embedder.embed_query(texts[1], {}).value() == embedded.vectors[1]);
  }
}

TEST_CASE("openai: a refused text gets a warning, and the other texts are embedded") {
  Fixture fixture({"fake-model"}, dialect("llamacpp"));
  fixture.connect();
  fixture.server.queue_behaviour(R"({"fault":"poison","times":0})");
  std::vector<std::string> texts = some_texts(8);
  texts[0] += " poison";
  const Embeddings embedded = fixture.embed(texts);
  REQUIRE(embedded.warnings.size() == 1);
  CHECK(embedded.warnings[0].text == 0);
  for (size_t i = 0; i < texts.size(); ++i) CHECK(embedded.vectors[i].empty() == (i == 0));
  const auto query = fixture.embedder.embed_query(texts[0], {});
  REQUIRE_FALSE(query.has_value());
  CHECK(query.error().kind == ErrorKind::protocol);
}

TEST_CASE("openai: a response without valid vectors gives a protocol error") {
  const struct {
    std::string fault;
    std::string what;
  } cases[] = {
      {"wrong_count", "sent 2 vectors for 3 texts"},
      {"duplicate_index", "sent index 0 twice"},
      {"bad_index", "sent index 10 for 3 vectors"},
      {"wrong_dim", "sent a vector of dimension 63 where 64 was expected"},
      {"zeros", "sent a vector of zeros"},
      {"nulls", "sent a vector with null or NaN in it"},
      {"html", "sent something that is not JSON"},
      {"truncated_json", "sent something that is not JSON"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.fault);
    Fixture fixture({"fake-model"});
    fixture.connect();
    fixture.server.queue_behaviour(R"({"times":0,"fault":")" + one.fault + "\"}");
    const auto embedded = fixture.embedder.embed_documents(some_texts(3), {}, {});
    REQUIRE_FALSE(embedded.has_value());
    CHECK(embedded.error().kind == ErrorKind::protocol);
    CHECK(embedded.error().message == "embedder at " + fixture.server.url() + "/v1: " + one.what);
  }
}

TEST_CASE("openai: a server without an embedding model gives a config error") {
  const struct {
    int status;
    std::string message;
  } cases[] = {
      {501, "This server does not support embeddings. Start it with `--embeddings`"},
      {400, "The model does not support Embeddings API"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.message);
    Fixture fixture({"fake-model"});
    fixture.server.queue_behaviour(
        nlohmann::json{{"status", one.status}, {"message", one.message}}.dump());
    const auto identity = fixture.embedder.identity(InputType::query, {});
    REQUIRE_FALSE(identity.has_value());
    CHECK(identity.error().kind == ErrorKind::config);
    CHECK(identity.error().message == "embedder at " + fixture.server.url() +
                                          "/v1 does not run an embedding model: " + one.message);
  }
}

TEST_CASE("openai: a refusal of dimensions is not taken for a server without an embedding model") {
  Fixture fixture({"fake-model"});
  fixture.server.queue_behaviour(nlohmann::json{
      {"status", 400},
      {"message",
       "Model \"Some-Embedding\" does not support matryoshka "
       "representation, changing output dimensions of embeddings "
       "will lead to poor results."}}.dump());
  const auto identity = fixture.embedder.identity(InputType::query, {});
  REQUIRE_FALSE(identity.has_value());
  CHECK(identity.error().message.find("does not run an embedding model") == std::string::npos);
  CHECK(identity.error().message.find("matryoshka") != std::string::npos);
}

TEST_CASE("openai: a model that the server does not have gives an error that lists its models") {
  for (const std::string behaviour :
       {"", R"({"path":"/embeddings","status":400,"message":"Invalid model: bge-m4"})"}) {
    CAPTURE(behaviour);
    Fixture fixture({"bge-m4"}, dialect("ollama"));
    if (!behaviour.empty()) fixture.server.queue_behaviour(behaviour);
    const auto embedded = fixture.embedder.embed_documents(some_texts(3), {}, {});
    REQUIRE_FALSE(embedded.has_value());
    CHECK(embedded.error().kind == ErrorKind::config);
    CHECK(embedded.error().message ==
          "embedder at " + fixture.server.url() + "/v1 has no model 'bge-m4'; it has fake-model");
    CHECK(embedded.error().hint == "set embedder.model (STOKA_EMBED_MODEL)");
  }
  Fixture without_list({"bge-m4"}, dialect("ollama"));
  without_list.models("", 404);
  const auto identity = without_list.embedder.identity(InputType::query, {});
  REQUIRE_FALSE(identity.has_value());
  CHECK(identity.error().kind == ErrorKind::config);
  CHECK(identity.error().message.find("(404)") != std::string::npos);
}

}  // namespace openai_test
