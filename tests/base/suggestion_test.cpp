#include "base/suggestion.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace suggestion_test {

using namespace stoka;

TEST_CASE("did_you_mean suggests the closest known word and no other") {
  std::vector<std::string> known = {"--json", "--quiet", "--session", "index"};
  CHECK(closest_match("--jsno", known) == "--json");
  CHECK(closest_match("indx", known) == "index");
  CHECK(closest_match("banana", known) == "");
  CHECK(did_you_mean("--quite", known) == ", did you mean '--quiet'?");
  CHECK(did_you_mean("zzz", known) == "");
}

}  // namespace suggestion_test
