#include <doctest/doctest.h>
#include <fmt/format.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "machine.h"
#include "rerank/policy.h"

namespace settings_test {

using namespace stoka::testing;

TEST_CASE("every kind of embedder, reranker and generator that a setting allows can be made") {
  for (const std::string role : {"EMBED", "RERANK", "GEN"}) {
    const std::string variable = role == "EMBED"    ? "STOKA_EMBEDDER"
                                 : role == "RERANK" ? "STOKA_RERANKER"
                                                    : "STOKA_GENERATOR";
    Machine machine;
    machine.environment()["STOKA_" + role + "_URL"] = "http://127.0.0.1:9";
    machine.environment()[variable] = "nonsense";
    const std::string refused = machine.stoka({"status"}).err;
    const size_t list = refused.find("wanted one of ");
    REQUIRE_MESSAGE(list != std::string::npos, refused);
    std::istringstream kinds(refused.substr(list + 14));
    int count = 0;
    for (std::string kind; std::getline(kinds, kind, ',');) {
      machine.environment()[variable] = stoka::trimmed(kind);
      CAPTURE(variable);
      CAPTURE(kind);
      const ProcessResult status = machine.stoka({"status", "--json"});
      CHECK((status.out + status.err).find("nothing makes") == std::string::npos);
      CHECK(status.code != 1);
      ++count;
    }
    CHECK(count >= 2);
  }
}

TEST_CASE("the settings of the policy have the defaults of PolicyOptions and take effect") {
  const stoka::rerank::PolicyOptions defaults;
  const std::pair<std::string, double> factors[] = {{"shown", defaults.shown},
                                                    {"deep_reader", defaults.deep_reader},
                                                    {"recent", defaults.recent},
                                                    {"navigational", defaults.navigational},
                                                    {"same_source", defaults.same_source}};
  Machine machine;
  machine.index_sample();
  std::istringstream lines(machine.stoka({"status", "-v"}).out);
  size_t listed = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key, variable, value;
    words >> key >> variable >> value;
    if (!key.starts_with("policy.")) continue;
    ++listed;
    bool known = false;
    for (const auto& [name, factor] : factors)
      known = known || (key == "policy." + name && value == fmt::format("{}", factor));
    CHECK_MESSAGE(known, line);
  }
  CHECK(listed == std::size(factors));
  // "what is debono?" is a question to which these three rules apply.
  for (const std::string name : {"recent", "navigational", "same_source"}) {
    std::string variable = "STOKA_POLICY_";
    for (const char c : name) variable += stoka::to_upper(c);
    machine.environment()[variable] = "1.75";
    const std::string ranked = machine.stoka({"rerank", "--explain", "what is debono?"}).out;
    CHECK_MESSAGE(ranked.find("x1.75") != std::string::npos, name);
    machine.environment().erase(variable);
  }
}

}  // namespace settings_test
