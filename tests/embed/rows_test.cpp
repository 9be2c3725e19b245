#include "embed/rows.h"

#include <doctest/doctest.h>

#include <cmath>

namespace rows_test {

using namespace stoka::embed;

TEST_CASE("bare rows are read in their order") {
  const auto rows = read_bare_rows("[[1,2.5],[-3e-1,4]]");
  REQUIRE(rows.has_value());
  CHECK(*rows == Rows{{1, 2.5}, {-0.3, 4}});
}

TEST_CASE("null and NaN are no numbers, and are kept for the check to see") {
  for (const std::string body : {"[[null,1]]", "[[NaN,1]]", "[[-Infinity,1]]"}) {
    CAPTURE(body);
    const auto rows = read_bare_rows(body);
    REQUIRE(rows.has_value());
    CHECK(std::isnan(rows->front().front()));
  }
}

TEST_CASE("indexed rows are put in the order of the index") {
  const auto rows = read_indexed_rows(R"({"object":"list","data":[
      {"index":2,"embedding":[3]},{"index":0,"embedding":[1]},{"index":1,"embedding":[2]}]})");
  REQUIRE(rows.has_value());
  CHECK(*rows == Rows{{1}, {2}, {3}});
}

TEST_CASE("without any index the order is that of the list") {
  const auto rows =
      read_indexed_rows(R"({"data":[{"embedding":[1]},{"embedding":[2],"index":null}]})");
  REQUIRE(rows.has_value());
  CHECK(*rows == Rows{{1}, {2}});
}

TEST_CASE("an embedding may be base64 of floats") {
  // 1.0f, -2.0f, 0.5f
  for (const std::string text : {"AACAPwAAAMAAAAA/", "AACAPwAAAMAAAAA/===="}) {
    const auto rows = read_indexed_rows(R"({"data":[{"index":0,"embedding":")" + text + R"("}]})");
    REQUIRE(rows.has_value());
    CHECK(*rows == Rows{{1, -2, 0.5}});
  }
  const auto padded = read_indexed_rows(R"({"data":[{"index":0,"embedding":"AACAPw=="}]})");
  REQUIRE(padded.has_value());
  CHECK(*padded == Rows{{1}});
}

TEST_CASE("what is no list of vectors is named") {
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
      {R"({"data":[7]})", "sent a vector that is no list of numbers"},
      {R"({"data":[{"index":0}]})", "sent a vector that is no list of numbers"},
      {R"({"data":[{"index":0,"embedding":[[1]]}]})", "sent a vector that is no list of numbers"},
      {R"({"data":[{"index":0,"embedding":["1"]}]})", "sent a vector that is no list of numbers"},
      {R"({"data":[{"index":0,"embedding":"AACA"}]})", "sent a vector that is no list of numbers"},
      {R"({"data":[{"index":0,"embedding":"AACA*w=="}]})",
       "sent a vector that is no list of numbers"},
      {R"({"data":[{"index":1,"embedding":[1]}]})", "sent index 1 among 1 vectors"},
      {R"({"data":[{"index":-1,"embedding":[1]}]})", "sent index -1 among 1 vectors"},
      {R"({"data":[{"index":0.5,"embedding":[1]}]})", "sent index 0.5 among 1 vectors"},
      {R"({"data":[{"index":"0","embedding":[1]}]})",
       "sent index that is no number among 1 vectors"},
      {R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]})",
       "sent index 0 twice"},
      {R"({"data":[{"index":0,"embedding":[1]},{"embedding":[2]}]})",
       "sent an index with some vectors and none with others"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.body);
    const auto rows = read_indexed_rows(one.body);
    REQUIRE_FALSE(rows.has_value());
    CHECK(rows.error() == one.what);
  }
}

TEST_CASE("what is no list of bare rows is named") {
  const struct {
    std::string body;
    std::string what;
  } cases[] = {
      {"[[0.5,", "sent something that is not JSON"},
      {"{}", "sent no list of vectors"},
      {R"(["AACAPw=="])", "sent a vector that is no list of numbers"},
      {"[0.5]", "sent a vector that is no list of numbers"},
      {"[[[0.5]]]", "sent a vector that is no list of numbers"},
      {"[[true]]", "sent a vector that is no list of numbers"},
      {std::string(100000, '['), "sent JSON that is nested too deep"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    const auto rows = read_bare_rows(one.body);
    REQUIRE_FALSE(rows.has_value());
    CHECK(rows.error() == one.what);
  }
}

}  // namespace rows_test
