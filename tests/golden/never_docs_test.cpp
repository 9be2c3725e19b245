// docs/never.md names a place for every item of the NEVER list.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "golden/golden.h"

namespace never_docs_test {

using namespace stoka;

namespace {

const std::filesystem::path kRoot = STOKA_SOURCE_DIR;

// The rows of the table of items.
std::vector<std::string> rows() {
  const std::string docs = read_file(kRoot / "docs/never.md", 1 << 20).value();
  std::vector<std::string> out;
  for (size_t at = docs.find("\n|---|---|---|\n");
       docs.compare(at = docs.find('\n', at + 1), 3, "\n| ") == 0;)
    out.push_back(docs.substr(at + 1, docs.find('\n', at + 1) - at - 1));
  return out;
}

}  // namespace

TEST_CASE(
    "docs/never.md has the items of the NEVER list in order, each with where it is enforced") {
  const std::vector<std::string> never = golden::load().value().never;
  const std::vector<std::string> table = rows();
  REQUIRE(table.size() == never.size());
  for (size_t i = 0; i < never.size(); ++i) {
    CAPTURE(table[i]);
    const std::string start = fmt::format("| {} | {} | ", i + 1, never[i]);
    REQUIRE(table[i].starts_with(start));
    const std::string where = table[i].substr(start.size());
    CHECK((where.find("`lib/") != std::string::npos ||
           where.find("judged by eval only") != std::string::npos));
    for (size_t at = 0; (at = where.find("`lib/", at)) != std::string::npos; ++at) {
      const std::string path = where.substr(at + 1, where.find('`', at + 1) - at - 1);
      CHECK_MESSAGE(std::filesystem::exists(kRoot / path), path);
    }
  }
}

}  // namespace never_docs_test
