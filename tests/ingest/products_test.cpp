#include "ingest/products.h"

#include <doctest/doctest.h>

#include "ingest/loader.h"

namespace products_test {

using namespace stoka;
using namespace stoka::ingest;

namespace {

LoadedFile read(std::string_view json) {
  return load_bytes({"products.json", "products.json", "site"}, json, "v1");
}

}  // namespace

TEST_CASE("product entries become documents") {
  LoadedFile out = read(R"({"products": [
    {"slug": "debono", "name": "Debono", "tagline": "Six hats.", "description": "An arena.", "status": "beta",
     "url": "https://d.example", "tags": ["LLM Agents", "rust"], "date": "2026-01-02", "supportedPlatforms": ["a", "b"],
     "pricing": {"monthly": 9}, "image": "x.png"},
    {"id": 7, "title": "Seven"},
    {"name": "Only Name", "notes": "It works!"}]})");
  CHECK(out.skipped.empty());
  REQUIRE(out.pages.size() == 3);
  const Document& first = out.pages[0].document;
  CHECK(first.slug == "debono");
  CHECK(first.title == "Debono");
  CHECK(first.type == "product");
  CHECK(first.url == "https://d.example");
  CHECK(first.tags == std::vector<std::string>{"llm-agents", "rust"});
  CHECK(first.date == parse_date("2026-01-02"));
  CHECK(out.pages[0].has_explicit_slug);
  std::string text;
  for (const Block& block : out.pages[0].blocks) text += block.text + "|";
  CHECK(text ==
        "Six hats.|An arena.|pricing monthly: 9.|status: beta.|supported platforms: a, b.|");
  CHECK(out.pages[1].document.slug == "7");
  CHECK(out.pages[1].document.url == "/products/7");
  CHECK(out.pages[2].document.slug == "only-name");
  CHECK(out.pages[2].blocks[0].text == "notes: It works!");
  CHECK(out.pages[0].document.content_hash != out.pages[1].document.content_hash);
}

TEST_CASE("entries that cannot be used are skipped and reported with their number") {
  LoadedFile out =
      read(R"([{"name": "a"}, 3, {"tagline": "no name"}, {"name": "d", "draft": true}, null])");
  CHECK(out.pages.size() == 1);
  std::vector<std::string> reasons;
  for (const SkippedSource& skipped : out.skipped) reasons.push_back(skipped.reason);
  CHECK(reasons == std::vector<std::string>{"product 2: not an object",
                                            "product 3: has neither slug, id nor name",
                                            "product 4: draft", "product 5: not an object"});
}

TEST_CASE("unpublished entries and code marked secret are skipped") {
  LoadedFile out = read(R"([{"name": "Open", "private": false, "password": "", "noindex": null},
    {"slug": "hidden", "name": "Hidden", "private": true}, {"name": "Listed not", "robots": "none"},
    {"name": "Code", "description": "Run:\n\n```sh\nmake\n```\n\n```env secret\nTOKEN=x\n```"}])");
  REQUIRE(out.pages.size() == 2);
  CHECK(out.pages[0].blocks.empty());
  REQUIRE(out.pages[1].blocks.size() == 2);
  CHECK(out.pages[1].blocks[1] == Block{BlockKind::code, 0, "make"});
  REQUIRE(out.skipped.size() == 2);
  CHECK(out.skipped[0].reason == "product 2: its field 'private' keeps it from readers");
  CHECK(out.skipped[1].kind == SkipKind::unpublished);
  CHECK(out.skipped[1].is_partial);
  REQUIRE(out.unpublished.size() == 2);
  CHECK(out.unpublished[0].slug == "hidden");
  CHECK(out.unpublished[1].slug == "listed-not");
  REQUIRE(out.left_out.size() == 1);
  CHECK(out.left_out[0].reason == "product 4: a code block was left out: it is marked secret");
}

TEST_CASE("a file without a list of products is skipped with the reason") {
  struct {
    std::string json;
    std::string_view reason;
  } cases[] = {
      {"{", "not well-formed JSON"},
      {"", "empty"},
      {"{\"a\": 1}", "neither a list of products nor an object with \"products\""},
      {"{\"products\": 1}", "neither a list of products nor an object with \"products\""},
      {std::string(100'000, '['), "JSON is nested more than 16 levels"},
  };
  for (const auto& c : cases) {
    LoadedFile out = read(c.json);
    CHECK(out.pages.empty());
    REQUIRE(out.skipped.size() == 1);
    CHECK(out.skipped[0].reason == c.reason);
  }
}

}  // namespace products_test
