#include "search/vectors.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace vectors_test {

using namespace stoka::search;

namespace {

VectorTable random_table(size_t rows, size_t dim, uint32_t seed) {
  std::mt19937 random(seed);
  VectorTable table;
  table.dim = dim;
  for (size_t row = 0; row < rows; ++row) {
    table.ids.push_back(static_cast<int64_t>(10 + 3 * row));
    for (size_t i = 0; i < dim; ++i) {
      table.values.push_back(static_cast<float>(random() % 2001) / 1000 - 1);
    }
  }
  return table;
}

std::vector<Scored> sorted_scan(const VectorTable& table, std::span<const float> query,
                                std::span<const size_t> skip) {
  std::vector<Scored> all;
  for (size_t row = 0; row < table.size(); ++row) {
    if (std::find(skip.begin(), skip.end(), row) != skip.end()) continue;
    all.push_back({table.ids[row], dot(table.row(row).data(), query.data(), table.dim)});
  }
  std::sort(all.begin(), all.end(), ranks_before);
  return all;
}

}  // namespace

TEST_CASE("dot agrees with a sum in double precision at every length") {
  const VectorTable table = random_table(2, 133, 1);
  for (size_t n = 0; n <= table.dim; ++n) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += double(table.row(0)[i]) * table.row(1)[i];
    CHECK(std::abs(dot(table.row(0).data(), table.row(1).data(), n) - sum) < 1e-4);
  }
}

TEST_CASE("top_k_with_ties equals the result of sorting all rows") {
  const VectorTable table = random_table(700, 48, 2);
  const std::vector<float> query(table.values.begin() + 480, table.values.begin() + 528);
  const std::vector<size_t> skips[] = {{}, {10}, {0, 1, 2, 10, 10, 699, 5000}};
  for (const auto& skip : skips) {
    const auto expected = sorted_scan(table, query, skip);
    for (const size_t k : {0, 1, 5, 100, 699, 700, 5000}) {
      const auto found = top_k_with_ties(table, query, k, skip);
      REQUIRE(found.size() == std::min<size_t>(k, expected.size()));
      for (size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].id == expected[i].id);
        CHECK(found[i].score == expected[i].score);
      }
    }
  }
}

TEST_CASE("equal rows are ordered by id, and top_k_with_ties returns all of them") {
  VectorTable table;
  table.dim = 2;
  for (int64_t id = 500; id > 0; --id) {
    table.ids.push_back(id);
    table.values.insert(table.values.end(), {1, id <= 3 ? 1.0F : 0.0F});
  }
  const float query[] = {0.5F, 0.5F};
  const auto found = top_k_with_ties(table, query, 5);
  REQUIRE(found.size() == 500);
  for (size_t i = 0; i < 5; ++i) CHECK(found[i].id == static_cast<int64_t>(i + 1));
  CHECK(top_k_with_ties(table, query, 3).size() == 3);
  CHECK(top_k_with_ties(table, query, 2).size() == 3);
}

TEST_CASE("rows with negative scores are returned, too") {
  VectorTable table{1, {1, 2}, {-0.5F, -0.25F}};
  const float query[] = {1};
  const auto found = top_k_with_ties(table, query, 10);
  REQUIRE(found.size() == 2);
  CHECK(found[0].id == 2);
}

TEST_CASE("a query of another dimension finds no vectors") {
  const VectorTable table = random_table(3, 4, 3);
  CHECK(top_k_with_ties(table, std::vector<float>(3), 2).empty());
}

TEST_CASE("normalize scales to unit length or changes nothing") {
  std::vector<float> vector = {3, 0, -4};
  REQUIRE(normalize(vector));
  CHECK(vector == std::vector<float>{0.6F, 0, -0.8F});
  const float infinity = std::numeric_limits<float>::infinity();
  for (std::vector<float> bad : {std::vector<float>{}, {0, 0}, {1, infinity}}) {
    const auto before = bad;
    CHECK_FALSE(normalize(bad));
    CHECK(bad == before);
  }
  std::vector<float> not_a_number = {1, std::nanf("")};
  CHECK_FALSE(normalize(not_a_number));
  std::vector<float> huge = {3e38F, 3e38F};
  REQUIRE(normalize(huge));
  CHECK(huge[0] == doctest::Approx(std::sqrt(0.5)));
}

TEST_CASE("vectors are encoded as little-endian float32") {
  const std::vector<float> vector = {1.0F, -2.5F};
  const std::string bytes = encode_vector(vector);
  CHECK(bytes == std::string("\x00\x00\x80\x3f\x00\x00\x20\xc0", 8));
  CHECK(decode_vector(bytes, 2) == vector);
  CHECK(decode_vector(bytes, 1).empty());
  CHECK(decode_vector(bytes, 3).empty());
  CHECK(decode_vector("abc", 1).empty());
  CHECK(encode_vector({}).empty());
  CHECK(decode_vector("", 0).empty());
}

}  // namespace vectors_test
