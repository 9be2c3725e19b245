#include "embed/lsa.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

namespace lsa_test {

using namespace stoka;
using namespace stoka::embed;

namespace {

using Chunks = std::vector<std::vector<TermCount>>;

std::vector<ChunkTerms> rows(const Chunks& chunks) { return {chunks.begin(), chunks.end()}; }

// Chunks of two subjects that share no term: 0..9 and 10..19.
Chunks two_subjects(size_t each) {
  Chunks chunks;
  for (size_t i = 0; i < 2 * each; ++i) {
    const auto base = static_cast<uint32_t>(i % 2 * 10);
    std::vector<TermCount> chunk;
    for (uint32_t t = 0; t < 10; ++t)
      if ((i / 2 + t) % 3 != 0) chunk.push_back({base + t, 1 + static_cast<uint32_t>(i + t) % 4});
    chunks.push_back(chunk);
  }
  return chunks;
}

Vector vector_of(const Basis& basis, const std::vector<TermCount>& text) {
  FoldInSum sum(basis.dim);
  for (const TermCount& entry : text)
    for (const BasisTerm& row : basis.rows)
      if (row.term == entry.term) sum.add(row.weight, entry.count, row.values);
  return sum.finish();
}

double cosine(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

TEST_CASE("terms of one subject lie close together and apart from those of another") {
  const Chunks chunks = two_subjects(30);
  FitOptions options;
  options.max_dim = 2;
  const Basis basis = fit(rows(chunks), 20, options).value();
  REQUIRE(basis.dim == 2);
  CHECK(basis.fitted_chunks == 60);
  const Vector first = vector_of(basis, {{0, 1}, {1, 2}});
  CHECK(cosine(first, vector_of(basis, {{7, 1}})) > 0.95);
  CHECK(std::abs(cosine(first, vector_of(basis, {{17, 1}}))) < 0.05);
}

TEST_CASE(
    "vectors have unit length, and the columns of the basis are orthogonal and ordered by length") {
  const Basis basis = fit(rows(two_subjects(20)), 20, {}).value();
  REQUIRE(basis.dim > 2);
  const Vector v = vector_of(basis, {{3, 2}, {12, 1}});
  CHECK(cosine(v, v) == doctest::Approx(1.0).epsilon(1e-5));
  const auto product = [&](int i, int j) {
    double sum = 0;
    for (const BasisTerm& row : basis.rows)
      sum += static_cast<double>(row.values[static_cast<size_t>(i)]) *
             row.values[static_cast<size_t>(j)];
    return sum;
  };
  for (int i = 1; i < basis.dim; ++i) {
    CHECK(product(i, i) > 0);
    CHECK(product(i, i) <= product(i - 1, i - 1) * 1.001);
    for (int j = 0; j < i; ++j) CHECK(std::abs(product(i, j)) < 1e-3 * product(0, 0));
  }
}

TEST_CASE("fitting the same chunks twice gives the same bytes") {
  const Chunks chunks = two_subjects(40);
  const Basis one = fit(rows(chunks), 20, {}).value();
  const Basis two = fit(rows(chunks), 20, {}).value();
  REQUIRE(one.rows.size() == two.rows.size());
  for (size_t i = 0; i < one.rows.size(); ++i) CHECK(one.rows[i].values == two.rows[i].values);
}

TEST_CASE("the dimension depends on the number of chunks, max_dim and the rank") {
  Chunks alike(30, {{0, 1}, {1, 1}});
  Chunks distinct;
  for (uint32_t i = 0; i < 60; ++i) distinct.push_back({{i, 1}, {60, 1}});
  struct Case {
    const char* name;
    Chunks chunks;
    size_t max_dim;
    int dim;
  };
  const Case cases[] = {
      {"no chunk", {}, 512, 0},
      {"only empty chunks", Chunks(3), 512, 0},
      {"one chunk", {{{0, 1}}}, 512, 1},
      {"one dimension a chunk for a handful", {distinct.begin(), distinct.begin() + 5}, 512, 5},
      {"half the chunks", distinct, 512, 30},
      {"max_dim", distinct, 7, 7},
      {"the rank", alike, 512, 1},
      {"no dimension", distinct, 0, 0},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    FitOptions options;
    options.max_dim = c.max_dim;
    CHECK(fit(rows(c.chunks), 61, options).value().dim == c.dim);
  }
}

TEST_CASE("in a large corpus, terms that occur in a single chunk are left out") {
  Chunks chunks;
  for (uint32_t i = 0; i < 300; ++i) chunks.push_back({{i % 5, 1}, {5 + i % 7, 2}, {12 + i, 1}});
  const Basis basis = fit(rows(chunks), 400, {}).value();
  CHECK(basis.rows.size() == 12);
  FitOptions options;
  options.max_terms = 6;
  CHECK(fit(rows(chunks), 400, options).value().rows.size() == 6);
}

TEST_CASE("a sample of the chunks has the expected size") {
  struct Case {
    size_t n;
    size_t max;
    size_t expected;
  };
  for (const Case& c : {Case{10, 20, 10}, {10, 10, 10}, {10, 5, 5}, {100, 7, 7}, {3, 1, 1}}) {
    size_t taken = 0;
    for (size_t i = 0; i < c.n; ++i) taken += is_in_sample(i, c.n, c.max) ? 1 : 0;
    CHECK(taken == c.expected);
  }
}

TEST_CASE("a text without a known term has no vector") {
  CHECK(FoldInSum(4).finish().empty());
  FoldInSum sum(2);
  sum.add(1.0F, 0, std::vector<float>{1.0F, 0.0F});
  CHECK(sum.finish().empty());
}

TEST_CASE("fit reports its progress and can be cancelled") {
  std::stop_source source;
  double last = 0;
  const Chunks chunks = two_subjects(40);
  REQUIRE(fit(rows(chunks), 20, {}, [&](double share) { last = share; }).has_value());
  CHECK(last == doctest::Approx(1.0));
  const auto stopped = fit(
      rows(chunks), 20, {}, [&](double) { source.request_stop(); }, source.get_token());
  REQUIRE_FALSE(stopped.has_value());
  CHECK(stopped.error().kind == ErrorKind::cancelled);
}

TEST_CASE("a vector of many small numbers is normalised in double precision") {
  const Vector vector = normalized(std::vector<double>(4096, 1e-4));
  double squares = 0;
  for (const float value : vector) squares += static_cast<double>(value) * value;
  CHECK(std::abs(squares - 1) < 1e-6);
}

TEST_CASE("a vector that is all zeros or not finite has no unit vector") {
  CHECK(normalized(std::vector<double>{}).empty());
  CHECK(normalized(std::vector<double>{0, 0}).empty());
  CHECK(normalized(std::vector<double>{1e-200, 0}).empty());
  CHECK(normalized(std::vector<double>{1e200, 1e200}).empty());
}

}  // namespace lsa_test
