#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "store/postgres/connection.h"
#include "store/postgres/params.h"
#include "support/postgres.h"

namespace postgres_params_test {

using namespace stoka;
using namespace stoka::store::postgres;
using namespace std::string_literals;

namespace {

struct Session {
  stoka::testing::TestDatabase database;
  std::unique_ptr<Connection> connection;
  Session() {
    const auto address = DatabaseAddress::parse(database.url());
    REQUIRE(address);
    auto opened = Connection::open(*address);
    REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().message));
    connection = std::move(*opened);
  }
  Rows run(std::string_view sql, const Params& params) {
    const auto rows = connection->run(sql, params);
    REQUIRE_MESSAGE(rows, (rows ? "" : rows.error().message));
    return *rows;
  }
};

std::string all_bytes() {
  std::string out;
  for (int i = 0; i < 256; ++i) out += static_cast<char>(i);
  return out + out;
}

}  // namespace

TEST_CASE("text parameters are returned unchanged, whatever their content") {
  Session session;
  std::string controls;
  for (char c = 1; c < 0x7f; ++c) controls += c;
  const std::string cases[] = {
      "",
      "NULL",
      controls,
      "line\r\nline\rline\n",
      "\xEF\xBB\xBFwith a mark at its front",
      "ä ß ☃ 😀 \xF4\x8F\xBF\xBF",
      "'; DROP TABLE stoka_chunks; --",
      "$1 :x ? %s {\"a\": \"\\u0000\"} \\x41 E'\\n' $$",
      std::string(1'000'000, 'x'),
  };
  for (const std::string& text : cases) {
    const Rows rows = session.run("SELECT $1::text, octet_length($1::text)", Params().text(text));
    CHECK(rows.text(0, 0) == text);
    CHECK_FALSE(rows.is_null(0, 0));
    CHECK(rows.integer(0, 1) == static_cast<int64_t>(text.size()));
  }
}

TEST_CASE("invalid UTF-8 in a text parameter is replaced") {
  Session session;
  struct {
    std::string given, stored;
  } const cases[] = {
      {"a\0b"s, "a\uFFFDb"},
      {"\0"s, "\uFFFD"},
      {"a\xFFz", "a\uFFFDz"},
      {"\xC3", "\uFFFD"},
      {"\xE2\x82 euro", "\uFFFD euro"},
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},  // half of a surrogate pair
      {"\xC0\x80\r\n", "\uFFFD\uFFFD\r\n"},
  };
  for (const auto& [given, stored] : cases) {
    const std::vector<std::string> both = {given, "ä"};
    const Rows rows = session.run("SELECT $1::text, ($2::text[])[1], ($2::text[])[2]",
                                  Params().text(given).texts(both));
    CHECK(rows.text(0, 0) == stored);
    CHECK(rows.text(0, 1) == stored);
    CHECK(rows.text(0, 2) == "ä");
  }
}

TEST_CASE("every byte value is returned unchanged, in both output formats of bytea") {
  Session session;
  for (const std::string& bytes : {""s, "\0"s, "\\x00"s, "\\"s, all_bytes()}) {
    const Rows rows =
        session.run("SELECT $1::bytea, octet_length($1::bytea)", Params().bytes(bytes));
    CHECK(rows.bytes(0, 0) == bytes);
    CHECK_FALSE(rows.is_null(0, 0));
    CHECK(rows.integer(0, 1) == static_cast<int64_t>(bytes.size()));
  }
  REQUIRE(session.connection->run("SET bytea_output = escape"));
  for (const std::string& bytes : {""s, "\\x00"s, "\\\\"s, all_bytes()})
    CHECK(session.run("SELECT $1::bytea", Params().bytes(bytes)).bytes(0, 0) == bytes);
}

TEST_CASE("integers, reals and booleans keep every bit") {
  Session session;
  using Integers = std::numeric_limits<int64_t>;
  for (const int64_t value :
       {int64_t{0}, int64_t{-1}, int64_t{1} << 40, Integers::min(), Integers::max()}) {
    const Rows rows = session.run("SELECT $1::bigint", Params().integer(value));
    CHECK(rows.integer(0, 0) == value);
    CHECK(rows.text(0, 0) == std::to_string(value));
  }
  using Reals = std::numeric_limits<double>;
  for (const double value : {0.0, -0.0, 0.1, -1e300, Reals::min(), Reals::denorm_min(),
                             Reals::max(), Reals::infinity(), -Reals::infinity()}) {
    const double back = session.run("SELECT $1::float8", Params().real(value)).real(0, 0);
    CHECK(back == value);
    CHECK(std::signbit(back) == std::signbit(value));
  }
  CHECK(std::isnan(session.run("SELECT $1::float8", Params().real(NAN)).real(0, 0)));
  for (const bool value : {true, false})
    CHECK(session.run("SELECT $1::bool", Params().boolean(value)).boolean(0, 0) == value);
}

TEST_CASE("NULL differs from an empty value, for every type") {
  Session session;
  for (const char* type : {"text", "bigint", "float8", "bool", "bytea", "text[]", "bigint[]",
                           "bytea[]", "vector", "vector[]"}) {
    CAPTURE(type);
    const Rows rows = session.run("SELECT $1::"s + type + ", 'x'", Params().null());
    CHECK(rows.is_null(0, 0));
    CHECK(rows.text(0, 0).empty());
    CHECK(rows.integer(0, 0) == 0);
    CHECK_FALSE(rows.boolean(0, 0));
    CHECK(rows.bytes(0, 0).empty());
    CHECK_FALSE(rows.is_null(0, 1));
  }
}

TEST_CASE("array elements arrive unchanged and in order") {
  Session session;
  const std::vector<std::string> texts = {"",  "NULL", "a,b", "{\"x\"}", "\\\"",
                                          "'", "ä",    " ",   "\n\t",    std::string(100'000, 'x')};
  Rows rows = session.run("SELECT x FROM unnest($1::text[]) WITH ORDINALITY AS t (x, n) ORDER BY n",
                          Params().texts(texts));
  REQUIRE(rows.size() == texts.size());
  for (size_t i = 0; i < texts.size(); ++i) CHECK(rows.text(i, 0) == texts[i]);

  const std::vector<int64_t> integers = {5, -1, 0, std::numeric_limits<int64_t>::min(),
                                         std::numeric_limits<int64_t>::max()};
  rows = session.run("SELECT x FROM unnest($1::bigint[]) WITH ORDINALITY AS t (x, n) ORDER BY n",
                     Params().integers(integers));
  REQUIRE(rows.size() == integers.size());
  for (size_t i = 0; i < integers.size(); ++i) CHECK(rows.integer(i, 0) == integers[i]);

  const std::vector<std::string> blobs = {"", "\0"s, all_bytes(), "\\x"};
  rows = session.run("SELECT x FROM unnest($1::bytea[]) WITH ORDINALITY AS t (x, n) ORDER BY n",
                     Params().blobs(blobs));
  REQUIRE(rows.size() == blobs.size());
  for (size_t i = 0; i < blobs.size(); ++i) CHECK(rows.bytes(i, 0) == blobs[i]);
}

TEST_CASE("an empty array is empty, not NULL") {
  Session session;
  const Params params = Params().texts({}).integers({}).blobs({}).vectors({}, 25);
  CHECK(session
            .run("SELECT $1::text[] = '{}' AND $2::bigint[] = '{}' AND $3::bytea[] = '{}' AND "
                 "$4::text[] = '{}'",
                 params)
            .boolean(0, 0));
}

TEST_CASE("vectors keep every bit, and an empty vector in an array is NULL") {
  Session session;
  const auto oid = session.connection->run("SELECT 'vector'::regtype::oid");
  REQUIRE(oid);
  std::vector<float> large(1024);
  for (size_t i = 0; i < large.size(); ++i) large[i] = 1.0f / static_cast<float>(i + 3);
  const std::vector<std::vector<float>> vectors = {
      {1, -2.5f, 0.1f}, {}, large, {std::numeric_limits<float>::denorm_min(), -0.0f}};

  const Rows rows = session.run(
      "SELECT vector_send(x) FROM unnest($1::vector[]) WITH ORDINALITY AS t (x, n) ORDER BY n",
      Params().vectors(vectors, static_cast<uint32_t>(oid->integer(0, 0))));
  REQUIRE(rows.size() == vectors.size());
  for (size_t i = 0; i < vectors.size(); ++i) {
    CHECK(rows.is_null(i, 0) == vectors[i].empty());
    CHECK(vector_from_bytes(rows.bytes(i, 0)) == vectors[i]);
    if (vectors[i].empty()) continue;
    const Rows alone = session.run("SELECT vector_send($1::vector)", Params().vector(vectors[i]));
    CHECK(vector_from_bytes(alone.bytes(0, 0)) == vectors[i]);
  }
  CHECK(session.run("SELECT $1::vector::text", Params().vector(vectors[0])).text(0, 0) ==
        "[1,-2.5,0.1]");
}

TEST_CASE("bytes that are not a vector decode to an empty one") {
  for (const std::string& bytes :
       {""s, "\0\1"s, "\0\1\0\0"s, "\0\1\0\0abc"s, "\0\1\0\0abcde"s, "\0\2\0\0abcd"s})
    CHECK(vector_from_bytes(bytes).empty());
  CHECK(vector_from_bytes("\0\1\0\0\x3f\x80\0\0"s) == std::vector<float>{1});
}

TEST_CASE("a statement takes many parameters of all types, with NULLs among them") {
  Session session;
  Params params;
  std::string sql = "SELECT ";
  for (int i = 1; i <= 60; i += 3) {
    params.integer(i).null().text(std::to_string(i));
    sql += "$" + std::to_string(i) + "::bigint, $" + std::to_string(i + 1) + "::bytea, $" +
           std::to_string(i + 2) + "::text, ";
  }
  const Rows rows = session.run(sql + "1", params);
  for (int i = 0; i < 60; i += 3) {
    CHECK(rows.integer(0, i) == i + 1);
    CHECK(rows.is_null(0, i + 1));
    CHECK(rows.text(0, i + 2) == std::to_string(i + 1));
  }
}

}  // namespace postgres_params_test
