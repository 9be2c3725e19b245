#include <doctest/doctest.h>

#include "store/postgres/database_address.h"

namespace postgres_database_address_test {

using namespace stoka;
using store::postgres::DatabaseAddress;

namespace {

DatabaseAddress must_parse(std::string_view url) {
  auto address = DatabaseAddress::parse(url);
  REQUIRE_MESSAGE(address, (address ? "" : address.error().message));
  return *address;
}

size_t count(std::string_view text, std::string_view what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("describe() omits user, password and parameters") {
  struct {
    const char *url, *shown, *user;
  } const cases[] = {
      {"postgres://u:secret@db.example:5432/site", "postgres://db.example:5432/site", "u"},
      {"postgresql://u:secret@db.example/site?sslmode=require", "postgres://db.example/site", "u"},
      {"POSTGRES://u@db.example/site", "postgres://db.example/site", "u"},
      {" postgres://db.example/site\n", "postgres://db.example/site", ""},
      {"postgres://", "postgres://", ""},
      {"postgres:///site", "postgres:///site", ""},
      {"postgres://db.example", "postgres://db.example", ""},
      {"postgres://db.example?sslmode=require", "postgres://db.example", ""},
      {"postgres://a%40b:p%40ss@db.example/site", "postgres://db.example/site", "a@b"},
      {"postgres://u:p?x#y:z@db.example/site", "postgres://db.example/site", "u"},
      {"postgres://u:@db.example/site", "postgres://db.example/site", "u"},
      {"postgres://u@[::1]:5433/site", "postgres://[::1]:5433/site", "u"},
      {"postgres://u@a:1,b:2/site?target_session_attrs=any", "postgres://a:1,b:2/site", "u"},
      {"postgres://%2Fvar%2Frun/site", "postgres://%2Fvar%2Frun/site", ""},
      {"postgres://?user=u&password=secret&host=h&port=7&dbname=d", "postgres://h:7/d", "u"},
      {"postgres://%75ser%0A:x@h/d", "postgres://h/d", "user "},
  };
  for (const auto& [url, shown, user] : cases) {
    CAPTURE(url);
    const DatabaseAddress address = must_parse(url);
    CHECK(address.describe() == shown);
    CHECK(address.user() == user);
  }
}

TEST_CASE("missing parameters are added once, and given ones are kept") {
  const DatabaseAddress plain = must_parse("postgres://u:secret@h/d");
  CHECK(plain.reveal().starts_with("postgres://u:secret@h/d?"));
  for (const char* added : {"connect_timeout=5", "keepalives_idle=30",
                            "keepalives_interval=", "keepalives_count=", "tcp_user_timeout=10000",
                            "application_name=stoka", "client_encoding=UTF8"})
    CHECK_MESSAGE(count(plain.reveal(), added) == 1, added);
  CHECK(count(plain.reveal(), "target_session_attrs") == 0);

  const DatabaseAddress own =
      must_parse("postgres://h/d?connect_timeout=1&application%5Fname=site&");
  CHECK(own.reveal().starts_with("postgres://h/d?connect_timeout=1&application%5Fname=site&"));
  CHECK(count(own.reveal(), "connect_timeout") == 1);
  CHECK(count(own.reveal(), "&&") == 0);
  CHECK(count(must_parse("postgres://h/d?").reveal(), "?&") == 0);
  CHECK(count(must_parse("postgres://u:a?b@h").reveal(), "h?") == 1);
}

TEST_CASE("a malformed URL is refused, and the error does not repeat it") {
  struct {
    std::string_view url;
    const char* message;
  } const cases[] = {
      {"", "does not begin with postgres://"},
      {"postgres", "does not begin with postgres://"},
      {"postgres:secret", "does not begin with postgres://"},
      {"host=h password=secret", "does not begin with postgres://"},
      {"mysql://u:secret@h/d", "does not begin with postgres://"},
      {"postgres://u:sec ret@h/d", "has a space in it"},
      {"postgres://u:secret\x1b@h/d", "has control characters in it"},
      {"postgres://u:secret\n@h/d", "has control characters in it"},
      {std::string_view("postgres://u:secret\0@h/d", 24), "has control characters in it"},
      {"postgres://u:secret\xff@h/d", "has control characters in it"},
      {"postgres://u:secret%@h/d", "has a '%' that"},
      {"postgres://u:secret%zz@h/d", "has a '%' that"},
      {"postgres://u:secret%00@h/d", "has a '%' that"},
      {"postgres://u:x@secret@h/d", "has one '@' too many"},
      {"postgres://u:x/secret@h/d", "has one '@' too many"},
      {"postgres://u:secret/x?y@h/d", "has one '@' too many"},
      {"postgres://u:secret/h/d", "has a port that is not a number from 1 to 65535"},
      {"postgres://h:0/d", "has a port that is not a number from 1 to 65535"},
      {"postgres://h:65536/d", "has a port that is not a number from 1 to 65535"},
      {"postgres://a:1,b:secret/d", "has a port that is not a number from 1 to 65535"},
      {"postgres://[secret/d", "has no ']'"},
      {"postgres://[]/d", "has no ']'"},
      {"postgres://[::1]secret/d", "has no ':'"},
  };
  for (const auto& [url, message] : cases) {
    CAPTURE(url);
    const auto address = DatabaseAddress::parse(url);
    REQUIRE_FALSE(address);
    CHECK(address.error().kind == ErrorKind::config);
    CHECK(address.error().message.find(message) != std::string::npos);
    CHECK(address.error().message.find("secret") == std::string::npos);
    CHECK_FALSE(address.error().hint.empty());
  }
}

TEST_CASE("redact() hides a password as typed and decoded") {
  struct {
    const char *url, *text, *redacted;
  } const cases[] = {
      {"postgres://u:s%40cret@h/d", "no \"s@cret\", no s%40cret", "no \"***\", no ***"},
      {"postgres://u:s%40cret@h/d", "in postgres://u:s%40cret@h/d?x=y",
       "in postgres://u:***@h/d?x=y"},
      {"postgres://h/d?password=s%40cret", "s@cret s%40cret", "*** ***"},
      {"postgres://h/d?sslpassword=hidden1&x=y", "hidden1", "***"},
      {"postgres://u:first@h/d?password=second", "first second", "*** ***"},
      // One secret contains the other: the longer one is replaced first.
      {"postgres://u:abc%25@h/d", "abc%25 abc%", "*** ***"},
      {"postgres://u:***@h/d", "*** ***", "*** ***"},
      // Too short to be replaced within words.
      {"postgres://u:is@h/d", "this is postgres://u:is@h/d", "this is postgres://u:***@h/d"},
      {"postgres://u:@h/d", "as it is", "as it is"},
      {"postgres://h/d", "as it is", "as it is"},
  };
  for (const auto& [url, text, redacted] : cases) {
    CAPTURE(url);
    CHECK(must_parse(url).redact(text) == redacted);
  }
}

}  // namespace postgres_database_address_test
