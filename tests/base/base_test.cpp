#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "base/toml.h"
#include "support/temp_folder.h"

namespace base_test {

using namespace stoka;

TEST_CASE("every kind of error has its exit code") {
  CHECK(exit_code(ErrorKind::usage) == 2);
  CHECK(exit_code(ErrorKind::config) == 3);
  CHECK(exit_code(ErrorKind::data) == 3);
  CHECK(exit_code(ErrorKind::unavailable) == 4);
  CHECK(exit_code(ErrorKind::cancelled) == 130);
  CHECK(http_status(ErrorKind::busy) == 503);
  CHECK(retryable(ErrorKind::busy));
  CHECK(!retryable(ErrorKind::usage));
}

TEST_CASE("the nearest word is a likely slip and nothing else") {
  std::vector<std::string> known = {"--json", "--quiet", "--session", "index"};
  CHECK(nearest("--jsno", known) == "--json");
  CHECK(nearest("indx", known) == "index");
  CHECK(nearest("banana", known) == "");
  CHECK(did_you_mean("--quite", known) == ", did you mean '--quiet'?");
  CHECK(did_you_mean("zzz", known) == "");
}

TEST_CASE("random ids are version 4 and differ; seeded ids repeat") {
  RandomIds random;
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    std::string id = random.uuid();
    CHECK(is_uuid(id));
    CHECK(id[14] == '4');
    CHECK(std::string("89ab").find(id[19]) != std::string::npos);
    CHECK(seen.insert(id).second);
  }
  CHECK(SeededIds(7).uuid() == SeededIds(7).uuid());
}

TEST_CASE("only a UUID is a UUID") {
  CHECK(is_uuid("123e4567-E89B-42d3-a456-426614174000"));
  for (const char* text :
       {"", "123e4567e89b42d3a456426614174000", "123e4567-e89b-42d3-a456-42661417400g",
        "123e4567-e89b-42d3-a456-426614174000 "})
    CHECK(!is_uuid(text));
}

TEST_CASE("instants are written as RFC 3339") {
  CHECK(rfc3339(Instant(std::chrono::milliseconds(1776000000123))) == "2026-04-12T13:20:00.123Z");
}

TEST_CASE("TOML becomes a flat list in file order") {
  auto entries =
      parse_toml("b = 1\n[t.u]\na = [\"x\", \"y\"]\nd = 2026-04-12\nt = true\n", "x.toml");
  REQUIRE(entries);
  REQUIRE(entries->size() == 4);
  CHECK((*entries)[0].key == "b");
  CHECK((*entries)[1].key == "t.u.a");
  CHECK((*entries)[1].values == std::vector<std::string>{"x", "y"});
  CHECK((*entries)[1].is_list);
  CHECK((*entries)[2].values.front() == "2026-04-12");
  CHECK((*entries)[3].values.front() == "true");
  CHECK((*entries)[3].line == 5);
}

TEST_CASE("a TOML entry knows the type of its values") {
  for (auto [value, type] : std::initializer_list<std::pair<const char*, TomlType>>{
           {"\"8\"", TomlType::text},
           {"8", TomlType::integer},
           {"8.5", TomlType::other},
           {"true", TomlType::other},
           {"[]", TomlType::text},
           {"[\"a\", \"b\"]", TomlType::text},
           {"[1, 2]", TomlType::integer},
           {"[1, \"b\"]", TomlType::other},
           {"[\"a\", 2, \"c\"]", TomlType::other}}) {
    CAPTURE(std::string(value));
    CHECK(parse_toml(std::string("x = ") + value, "x.toml").value()[0].type == type);
  }
}

TEST_CASE("TOML that is malformed or too deep is refused with its line") {
  for (const char* text : {"a = ", "a = [[1]]", "[[a]]\nb = 1"}) {
    CAPTURE(std::string(text));
    auto entries = parse_toml(text, "x.toml");
    REQUIRE(!entries);
    CHECK(entries.error().message.starts_with("x.toml:1: "));
  }
}

TEST_CASE("a file is written whole or not at all, and read within its limit") {
  testing::TempFolder folder;
  const std::filesystem::path& dir = folder.path;
  REQUIRE(write_file(dir / "a", "hello", 0600));
  CHECK(read_file(dir / "a", 100).value() == "hello");
  CHECK((std::filesystem::status(dir / "a").permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
  CHECK(read_file(dir / "a", 3).error().kind == ErrorKind::data);
  CHECK(read_file(dir, 100).error().message.find(dir.string()) != std::string::npos);
  CHECK(read_file(dir / "missing", 100).error().kind == ErrorKind::data);
  CHECK(!write_file(dir / "no" / "such", "x"));
}

TEST_CASE("the content hash notices a changed byte") {
  CHECK(content_hash("abc").size() == 32);
  CHECK(content_hash("abc") == content_hash("abc"));
  CHECK(content_hash("abc") != content_hash("abd"));
}

TEST_CASE("ASCII is lowered and trimmed, other bytes stay") {
  CHECK(lower("HTTP://Ünder") == "http://Ünder");
  CHECK(trimmed(" \t\r\n a b \f\v") == "a b");
  CHECK(trimmed(" \n ") == "");
  CHECK(trimmed("") == "");
}

}  // namespace base_test
