#include "embed/response.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace response_test {

using namespace stoka::embed;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("tei: vectors are read in the order of the texts") {
  const auto vectors = parse_tei_vectors("[[1,2.5],[-3e-1,4]]");
  REQUIRE(vectors.has_value());
  CHECK(*vectors == RawVectors{{1, 2.5}, {-0.3, 4}});
}

TEST_CASE("tei: null, NaN and infinity are read as NaN") {
  for (const std::string body : {"[[null,1]]", "[[NaN,1]]", "[[-Infinity,1]]"}) {
    CAPTURE(body);
    const auto vectors = parse_tei_vectors(body);
    REQUIRE(vectors.has_value());
    CHECK(std::isnan(vectors->front().front()));
  }
}

TEST_CASE("openai: vectors are ordered by their index") {
  const auto vectors = parse_openai_vectors(R"({"object":"list","data":[
      {"index":2,"embedding":[3]},{"index":0,"embedding":[1]},{"index":1,"embedding":[2]}]})");
  REQUIRE(vectors.has_value());
  CHECK(*vectors == RawVectors{{1}, {2}, {3}});
}

TEST_CASE("openai: without an index the vectors are in the order of the list") {
  const auto vectors =
      parse_openai_vectors(R"({"data":[{"embedding":[1]},{"embedding":[2],"index":null}]})");
  REQUIRE(vectors.has_value());
  CHECK(*vectors == RawVectors{{1}, {2}});
}

TEST_CASE("openai: an embedding may be base64 of float32") {
  // 1.0f, -2.0f, 0.5f
  for (const std::string text : {"AACAPwAAAMAAAAA/", "AACAPwAAAMAAAAA/===="}) {
    const auto vectors =
        parse_openai_vectors(R"({"data":[{"index":0,"embedding":")" + text + R"("}]})");
    REQUIRE(vectors.has_value());
    CHECK(*vectors == RawVectors{{1, -2, 0.5}});
  }
  const auto padded = parse_openai_vectors(R"({"data":[{"index":0,"embedding":"AACAPw=="}]})");
  REQUIRE(padded.has_value());
  CHECK(*padded == RawVectors{{1}});
}

TEST_CASE("openai: a body that is not a list of vectors gives an error that says why") {
  const struct {
    std::string body;
    std::string what;
  } cases[] = {
      {"", "sent something that is not JSON"},
      {"<html></html>", "sent something that is not JSON"},
      {R"({"data":[{"index":0,"embed)", "sent something that is not JSON"},
      {R"({"data":[{"embedding":[1e400]}]})", "sent something that is not JSON"},
      {"[1]", "sent no list of vectors"},
      {"3", "sent no list of vectors"},
      {R"({"data":null})", "sent no list of vectors"},
      {R"({"error":{"message":"out of memory"}})", "sent an error: out of memory"},
      {R"({"data":[7]})", "sent a vector that is not a list of numbers"},
      {R"({"data":[{"index":0}]})", "sent a vector that is not a list of numbers"},
      {R"({"data":[{"index":0,"embedding":[[1]]}]})",
       "sent a vector that is not a list of numbers"},
      {R"({"data":[{"index":0,"embedding":["1"]}]})",
       "sent a vector that is not a list of numbers"},
      {R"({"data":[{"index":0,"embedding":"AACA"}]})",
       "sent a vector that is not a list of numbers"},
      {R"({"data":[{"index":0,"embedding":"AACA*w=="}]})",
       "sent a vector that is not a list of numbers"},
      {R"({"data":[{"index":1,"embedding":[1]}]})", "sent index 1 for 1 vectors"},
      {R"({"data":[{"index":-1,"embedding":[1]}]})", "sent index -1 for 1 vectors"},
      {R"({"data":[{"index":0.5,"embedding":[1]}]})", "sent index 0.5 for 1 vectors"},
      {R"({"data":[{"index":"0","embedding":[1]}]})", "sent an index that is not a number"},
      {R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]})",
       "sent index 0 twice"},
      {R"({"data":[{"index":0,"embedding":[1]},{"embedding":[2]}]})",
       "sent an index with some of the vectors only"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.body);
    const auto vectors = parse_openai_vectors(one.body);
    REQUIRE_FALSE(vectors.has_value());
    CHECK(vectors.error() == one.what);
  }
}

TEST_CASE("tei: a body that is not a list of vectors gives an error that says why") {
  const struct {
    std::string body;
    std::string what;
  } cases[] = {
      {"[[0.5,", "sent something that is not JSON"},
      {"{}", "sent no list of vectors"},
      {R"(["AACAPw=="])", "sent a vector that is not a list of numbers"},
      {"[0.5]", "sent a vector that is not a list of numbers"},
      {"[[[0.5]]]", "sent a vector that is not a list of numbers"},
      {"[[true]]", "sent a vector that is not a list of numbers"},
      {std::string(100000, '['), "sent JSON that is nested too deep"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    const auto vectors = parse_tei_vectors(one.body);
    REQUIRE_FALSE(vectors.has_value());
    CHECK(vectors.error() == one.what);
  }
}

TEST_CASE("validate_vectors scales each vector to unit length") {
  const auto vectors = validate_vectors({{3, 4}, {0, -0.5}}, 2, 2);
  REQUIRE(vectors.has_value());
  CHECK((*vectors)[0] == Vector{0.6f, 0.8f});
  CHECK((*vectors)[1] == Vector{0, -1});
}

TEST_CASE("validate_vectors says what is wrong with the vectors") {
  const struct {
    RawVectors vectors;
    size_t texts;
    int dim;
    std::string what;
    bool is_caused_by_text;
  } cases[] = {
      {{{1, 0}}, 2, 2, "sent 1 vectors for 2 texts", false},
      {{{1, 0}, {0, 1}}, 1, 2, "sent 2 vectors for 1 texts", false},
      {{}, 1, 0, "sent 0 vectors for 1 texts", false},
      {{{1, 0}, {0, 1, 0}}, 2, 2, "sent a vector of dimension 3 where 2 was expected", false},
      {{{1, 0}, {0, 1, 0}}, 2, 0, "sent a vector of dimension 3 where 2 was expected", false},
      {{{1, 0}}, 1, 3, "sent a vector of dimension 2 where 3 was expected", false},
      {{{}}, 1, 0, "sent a vector without numbers", false},
      {{{1, 0}, {0, 0}}, 2, 2, "sent a vector of zeros", true},
      {{{1, kNan}}, 1, 2, "sent a vector with null or NaN in it", true},
      {{{kInfinity, 1}}, 1, 2, "sent a vector with null or NaN in it", true},
      {{{0, 0}, {1}}, 2, 2, "sent a vector of dimension 1 where 2 was expected", false},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    const auto vectors = validate_vectors(one.vectors, one.texts, one.dim);
    REQUIRE_FALSE(vectors.has_value());
    CHECK(vectors.error().message == one.what);
    CHECK(vectors.error().is_caused_by_text == one.is_caused_by_text);
  }
}

TEST_CASE("validate_vectors with dimension 0 accepts any dimension that all vectors share") {
  CHECK(validate_vectors({{1, 2, 2}, {2, 1, 2}}, 2, 0).has_value());
}

}  // namespace response_test
