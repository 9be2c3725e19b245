// docs/eval.md lists every field and every predicate, and no others.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "base/files.h"
#include "eval/case.h"
#include "eval/predicates.h"

namespace docs_test {

using namespace stoka;
using namespace stoka::eval;

namespace {

const std::string& docs() {
  static const std::string text =
      read_file(std::filesystem::path(STOKA_SOURCE_DIR) / "docs/eval.md", 1 << 20).value();
  return text;
}

// The names in backticks in the first column of a table between two markers.
std::vector<std::string> names(const std::string& from, const std::string& to) {
  const size_t begin = docs().find("<!-- " + from + " -->");
  const size_t end = docs().find("<!-- " + to + " -->");
  REQUIRE(begin < end);
  std::vector<std::string> out;
  for (size_t at = docs().find("\n| `", begin); at < end; at = docs().find("\n| `", at + 1)) {
    const std::string cell = docs().substr(at + 3, docs().find(" |", at + 3) - at - 3);
    for (size_t tick = cell.find('`'); tick != cell.npos;) {
      const size_t close = cell.find('`', tick + 1);
      out.push_back(cell.substr(tick + 1, close - tick - 1));
      tick = cell.find('`', close + 1);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("docs/eval.md lists the fields of a case, a conversation and a query in order") {
  CHECK(names("case fields", "conversation fields") == case_fields());
  CHECK(names("conversation fields", "query fields") == conversation_fields());
  const std::vector<std::string> documented = names("query fields", "end of fields");
  CHECK(std::set<std::string>(documented.begin(), documented.end()) == [] {
    const std::vector<std::string> fields = query_fields();
    return std::set<std::string>(fields.begin(), fields.end());
  }());
}

TEST_CASE("docs/eval.md lists the predicates in order") {
  std::vector<std::string> all;
  for (const Predicate& one : predicates()) all.emplace_back(one.name);
  CHECK(names("predicates", "end of predicates") == all);
}

}  // namespace docs_test
