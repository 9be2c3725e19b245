#include "base/toml.h"

#include <doctest/doctest.h>

namespace toml_test {

using namespace stoka;

TEST_CASE("TOML becomes a flat list in the order of the file") {
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

TEST_CASE("a TOML entry has the type of its values") {
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

TEST_CASE("characters beyond ASCII may stand in strings and comments") {
  auto entries =
      parse_toml("# \u00E9\na = \"\"\"x\\\n  \u00E9 \u2596\"\"\"\n\"\u00E9\" = '\u00E9'", "x");
  REQUIRE(entries);
  REQUIRE(entries->size() == 2);
  CHECK((*entries)[0].values.front() == "x\u00E9 \u2596");
  CHECK((*entries)[1].key == "\u00E9");
  CHECK((*entries)[1].values.front() == "\u00E9");
}

TEST_CASE("malformed and deeply nested TOML is refused with its line") {
  for (const char* text :
       {"a = ", "a = [[1]]", "[[a]]\nb = 1", "a = \u00E9", "a = 3\"\u2596", "a = 1\u00E9",
        "\u00E9 = 1", "a = true\u3001", "a = 2026-05-31\u00E9", "a = \xFF"}) {
    CAPTURE(std::string(text));
    auto entries = parse_toml(text, "x.toml");
    REQUIRE(!entries);
    CHECK(entries.error().message.starts_with("x.toml:1: "));
  }
}

}  // namespace toml_test
