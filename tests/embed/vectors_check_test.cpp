#include "embed/vectors_check.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace vectors_check_test {

using namespace stoka::embed;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("vectors come out at unit length") {
  const auto vectors = check_vectors({{3, 4}, {0, -0.5}}, 2, 2);
  REQUIRE(vectors.has_value());
  CHECK((*vectors)[0] == Vector{0.6f, 0.8f});
  CHECK((*vectors)[1] == Vector{0, -1});
}

TEST_CASE("what is no set of vectors is named") {
  const struct {
    Rows rows;
    size_t texts;
    int dim;
    std::string what;
    bool of_a_text;
  } cases[] = {
      {{{1, 0}}, 2, 2, "sent 1 vectors for 2 texts", false},
      {{{1, 0}, {0, 1}}, 1, 2, "sent 2 vectors for 1 texts", false},
      {{}, 1, 0, "sent 0 vectors for 1 texts", false},
      {{{1, 0}, {0, 1, 0}}, 2, 2, "sent a vector of dimension 3 where 2 was due", false},
      {{{1, 0}, {0, 1, 0}}, 2, 0, "sent a vector of dimension 3 where 2 was due", false},
      {{{1, 0}}, 1, 3, "sent a vector of dimension 2 where 3 was due", false},
      {{{}}, 1, 0, "sent a vector without numbers", false},
      {{{1, 0}, {0, 0}}, 2, 2, "sent a vector of zeros", true},
      {{{1, kNan}}, 1, 2, "sent a vector with null or NaN in it", true},
      {{{kInfinity, 1}}, 1, 2, "sent a vector with null or NaN in it", true},
      {{{0, 0}, {1}}, 2, 2, "sent a vector of dimension 1 where 2 was due", false},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    const auto vectors = check_vectors(one.rows, one.texts, one.dim);
    REQUIRE_FALSE(vectors.has_value());
    CHECK(vectors.error().what == one.what);
    CHECK(vectors.error().of_a_text == one.of_a_text);
  }
}

TEST_CASE("any one dimension does where none is known") {
  CHECK(check_vectors({{1, 2, 2}, {2, 1, 2}}, 2, 0).has_value());
}

TEST_CASE("long vectors of small numbers keep their length in double") {
  const Vector vector = unit(std::vector<double>(4096, 1e-4));
  double squares = 0;
  for (const float value : vector) squares += static_cast<double>(value) * value;
  CHECK(std::abs(squares - 1) < 1e-6);
}

TEST_CASE("what has no direction has no unit vector") {
  CHECK(unit(std::vector<double>{}).empty());
  CHECK(unit(std::vector<double>{0, 0}).empty());
  CHECK(unit(std::vector<double>{1e-200, 0}).empty());
  CHECK(unit(std::vector<double>{1e200, 1e200}).empty());
}

}  // namespace vectors_check_test
