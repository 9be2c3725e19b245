#include "base/config.h"

#include <doctest/doctest.h>

namespace config_test {

using namespace stoka;

namespace {

const std::vector<Setting> kSettings = {
    {"store", "STOKA_DB_URL", ValueType::text, "default.db", "where"},
    {"retrieval.mode",
     "STOKA_RETRIEVAL_MODE",
     ValueType::choice,
     "hybrid",
     "how",
     {"hybrid", "dense"}},
    {"retrieval.k", "STOKA_RETRIEVAL_K", ValueType::integer, "100", "how many", {}, 1, 1000},
    {"tags", "", ValueType::list, "", "which"},
};

Config::Environment environment(std::map<std::string, std::string> values) {
  return [values](const std::string& name) -> std::optional<std::string> {
    auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace

TEST_CASE("a flag overrides the environment, the file and the default, in this order") {
  Config config(kSettings);
  CHECK(config.text("store") == "default.db");
  CHECK(config.origin("store") == Origin::default_value);
  REQUIRE(config.load_file("store = \"file.db\"\n[retrieval]\nk = 7\n", "config.toml"));
  CHECK(config.text("store") == "file.db");
  CHECK(config.integer("retrieval.k") == 7);
  REQUIRE(config.load_environment(environment({{"STOKA_DB_URL", "env.db"}})));
  CHECK(config.text("store") == "env.db");
  CHECK(config.integer("retrieval.k") == 7);
  REQUIRE(config.set_flag("store", "flag.db"));
  CHECK(config.text("store") == "flag.db");
  CHECK(config.origin("store") == Origin::flag);
}

TEST_CASE("an empty environment variable counts as not set") {
  Config config(kSettings);
  REQUIRE(config.load_environment(environment({{"STOKA_DB_URL", ""}})));
  CHECK(config.text("store") == "default.db");
}

TEST_CASE("the error for an unknown key names the line and the closest known key") {
  Config config(kSettings);
  auto loaded = config.load_file("\n[retrieval]\nmod = \"dense\"\n", "config.toml");
  REQUIRE(!loaded);
  CHECK(loaded.error().kind == ErrorKind::config);
  CHECK(loaded.error().message ==
        "config.toml:3: unknown key 'retrieval.mod', did you mean 'retrieval.mode'?");
}

TEST_CASE("an invalid value is refused with a description of valid ones") {
  Config config(kSettings);
  auto number = config.load_environment(environment({{"STOKA_RETRIEVAL_K", "many"}}));
  REQUIRE(!number);
  CHECK(number.error().message ==
        "STOKA_RETRIEVAL_K: retrieval.k is 'many', wanted a whole number from 1 to 1000");
  auto choice = config.set_flag("retrieval.mode", "sparse");
  REQUIRE(!choice);
  CHECK(choice.error().kind == ErrorKind::usage);
  CHECK(choice.error().message.ends_with("wanted one of hybrid, dense"));
}

TEST_CASE("a list is read from a comma-separated text or a TOML array") {
  Config config(kSettings);
  REQUIRE(config.load_file("tags = [\"a\", \"b c\"]", "config.toml"));
  CHECK(config.list("tags") == std::vector<std::string>{"a", "b c"});
  REQUIRE(config.set_flag("tags", " x, ,y "));
  CHECK(config.list("tags") == std::vector<std::string>{"x", "y"});
}

TEST_CASE("malformed TOML gives a configuration error with its line") {
  Config config(kSettings);
  auto loaded = config.load_file("store = \n", "config.toml");
  REQUIRE(!loaded);
  CHECK(loaded.error().kind == ErrorKind::config);
  CHECK(loaded.error().message.starts_with("config.toml:1: "));
}

}  // namespace config_test
