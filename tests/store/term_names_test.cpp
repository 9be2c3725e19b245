#include "store/term_names.h"

#include <doctest/doctest.h>

namespace term_names_test {

using namespace stoka;
using namespace stoka::store;

TEST_CASE("the terms of a chunk are ordered by name, and an unknown id is refused") {
  TermNames names;
  names.add(7, "ant");
  names.add(2, "bee");
  names.add(5, "cat");
  std::vector<TermCount> terms = {{"left over", 1}};
  const ChunkTerm stored[] = {{2, 4}, {5, 1}, {7, 3}};
  REQUIRE(names.look_up(stored, terms));
  std::string shown;
  for (const TermCount& term : terms) shown += term.term + std::to_string(term.count) + " ";
  CHECK(shown == "ant3 bee4 cat1 ");
  const ChunkTerm unknown[] = {{2, 4}, {3, 1}};
  CHECK_FALSE(names.look_up(unknown, terms));
  REQUIRE(names.look_up({}, terms));
  CHECK(terms.empty());
}

}  // namespace term_names_test
