#include "eval/slugs.h"

#include <doctest/doctest.h>

namespace slugs_test {

using namespace stoka;
using namespace stoka::eval;

namespace {

Result<> check(const std::string& line) {
  store::DocumentInfo boats;
  boats.document.slug = "wooden-boats";
  Cases cases;
  REQUIRE(read_cases(line, "my.jsonl", "", cases));
  return check_slugs(cases, pipeline::Catalog({boats}, 1));
}

}  // namespace

TEST_CASE("a case may name pages that there are") {
  CHECK(check(R"({"query":"x","ideal_cite":"wooden-boats","seen":["wooden-boats"]})"));
  CHECK(check(R"({"query":"x","relevant":{"wooden-boats":3}})"));
  CHECK(check(R"({"query":"x"})"));
  // What a model invents is no page.
  CHECK(check(R"({"query":"x","model":"<cite slug='made-up'/>","must_not_cite":"made-up"})"));
}

TEST_CASE("one that there is not is named, with its place and what was meant") {
  for (const char* line : {R"({"query":"x","ideal_cite":"wooden-boat"})",
                           R"({"query":"x","must_not_cite":"wooden-boat"})",
                           R"({"query":"x","seen":["wooden-boats","wooden-boat"]})",
                           R"({"query":"x","relevant":{"wooden-boat":1}})"}) {
    CAPTURE(std::string(line));
    const auto checked = check(line);
    REQUIRE(!checked);
    CHECK(checked.error().kind == ErrorKind::data);
    CHECK(checked.error().message.starts_with("my.jsonl:1: "));
    CHECK(checked.error().message.ends_with(
        "'wooden-boat' is no page of the index, did you mean 'wooden-boats'?"));
  }
}

}  // namespace slugs_test
