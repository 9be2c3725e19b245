// Index runs over products whose page and entry are read by the same run or by different runs.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "pipeline/index_fixture.h"
#include "pipeline/index_run.h"

namespace product_index_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

// A site with a product that has a page and an entry in products.json.
struct Shop : IndexFixture {
  fs::path pages = root / "products", list = root / "products.json";
  Shop() {
    write_page("It shines.");
    write_entry("9 EUR");
  }
  void write_page(const std::string& text) {
    write("products/lamp.md", "# Lamp\n\n" + text + "\n\n## Use\n\nOn ships.\n");
  }
  void write_entry(const std::string& price) {
    write("products.json", R"([{"slug": "product-lamp", "name": "Lamp", "url": "/products/lamp",
                                "price": ")" +
                               price + R"("}, {"slug": "torch", "name": "Torch"}])");
  }
  // Every indexed document as "slug url: text".
  std::set<std::string> all() {
    std::set<std::string> out;
    auto documents = fixture.store->documents().value();
    for (const auto& info : documents) {
      std::string text;
      auto chunks = fixture.store->document_chunks(info.document.slug).value();
      for (const auto& chunk : chunks) text += chunk.chunk.content + "|";
      out.insert(fmt::format("{} {}: {}", info.document.slug, info.document.url, text));
    }
    return out;
  }
};

using All = std::set<std::string>;
const std::string kTorch = "torch /products/torch: Torch|";
const std::string kLamp = "lamp /products/lamp: It shines.|On ships.|price: 9 EUR.|";

}  // namespace

TEST_CASE("a product is one document, whatever runs read its page and its entry") {
  for (const std::string order : {"tree", "page, list", "list, page", "page; list", "list; page"}) {
    CAPTURE(order);
    Shop shop;
    if (order == "tree") REQUIRE(shop.run());
    if (order == "page, list") REQUIRE(shop.run(false, false, {shop.pages, shop.list}));
    if (order == "list, page") REQUIRE(shop.run(false, false, {shop.list, shop.pages}));
    if (order == "list; page") REQUIRE(shop.run(false, false, {shop.list}));
    if (order.ends_with("; page") || order == "page; list")
      REQUIRE(shop.run(false, false, {shop.pages}));
    if (order == "page; list") REQUIRE(shop.run(false, false, {shop.list}));
    CHECK(shop.all() == All{kLamp, kTorch});
    // Further runs of either part change nothing.
    for (const auto& paths :
         std::vector<std::vector<fs::path>>{{shop.pages}, {shop.list}, {shop.list, shop.pages}}) {
      auto again = shop.run(false, false, paths);
      REQUIRE(again);
      CHECK(again->added + again->changed + again->removed == 0);
    }
  }
}

TEST_CASE("a run of the page or of the list alone updates the product") {
  Shop shop;
  REQUIRE(shop.run());
  shop.write_entry("8 EUR");
  CHECK(counts(shop.run(false, false, {shop.list})) == "+0 ~1 =1 -0");
  CHECK(shop.all() == All{"lamp /products/lamp: It shines.|On ships.|price: 8 EUR.|", kTorch});
  shop.write_page("It glows.");
  CHECK(counts(shop.run(false, false, {shop.pages})) == "+0 ~1 =0 -0");
  CHECK(shop.all() == All{"lamp /products/lamp: It glows.|On ships.|price: 8 EUR.|", kTorch});
}

TEST_CASE("a product whose page or entry is gone keeps the text of the other") {
  for (bool prune : {false, true}) {
    CAPTURE(prune);
    Shop shop;
    REQUIRE(shop.run());
    shop.write("products.json", R"([{"slug": "torch", "name": "Torch"}])");
    CHECK(counts(shop.run(prune)) == "+0 ~1 =1 -0");
    CHECK(shop.all() == All{"lamp /products/lamp: It shines.|On ships.|", kTorch});
    shop.write_entry("9 EUR");
    REQUIRE(shop.run(prune));
    CHECK(shop.all() == All{kLamp, kTorch});
    fs::remove(shop.pages / "lamp.md");
    auto report = shop.run(prune);
    CHECK(counts(report) == "+1 ~0 =1 -1");
    CHECK(report->missing == 0);
    CHECK(shop.all() == All{"product-lamp /products/lamp: price: 9 EUR.|", kTorch});
  }
}

TEST_CASE("a product keeps the text of its entry while the list cannot be read") {
  Shop shop;
  REQUIRE(shop.run());
  shop.write("products.json", "[{\"slug\": ");
  CHECK(counts(shop.run()) == "+0 ~0 =1 -0");
  CHECK(shop.all() == All{kLamp, kTorch});
}

TEST_CASE("an entry stays when another entry with the same slug is private") {
  struct {
    std::string file, text;
  } cases[] = {
      {"products.json", R"([{"slug":"x","draft":true},{"slug":"x","name":"X"}])"},
      {"c.jsonl", "{\"id\":\"x\",\"text\":\"X.\",\"private\":1}\n{\"id\":\"x\",\"text\":\"X.\"}\n"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.file);
    IndexFixture index;
    index.write(c.file, c.text);
    const std::vector<fs::path> paths = {index.root / c.file};
    CHECK(counts(index.run(false, false, paths)) == "+1 ~0 =0 -0");
    for (int again = 0; again < 2; ++again) {
      CHECK(counts(index.run(false, false, paths)) == "+0 ~0 =1 -0");
      CHECK(index.slugs() == std::set<std::string>{"x"});
    }
  }
}

TEST_CASE("an entry that becomes private leaves its product, even if the list is damaged") {
  // The first run indexes the whole site; the second indexes it again, or only the pages.
  for (bool whole : {true, false}) {
    for (const std::string_view hidden :
         {R"({"slug":"a","price":"9","secret":true})", R"({"name":"The lamp","secret":true})",
          R"({"slug":"b","url":"https://x.example/products/a","secret":true})"}) {
      CAPTURE(whole);
      CAPTURE(hidden);
      IndexFixture index;
      index.write("products/a.md", "# The lamp\n\nIt shines.\n");
      index.write("products.json", R"([{"slug":"a","price":"dear"}])");
      REQUIRE(index.run());
      REQUIRE(index.found("dear") == 1);
      index.write("products.json", fmt::format("[{}, \"note\"]", hidden));
      const auto paths = whole ? std::vector<fs::path>{} : std::vector{index.root / "products"};
      CHECK(counts(index.run(false, false, paths)) == "+0 ~1 =0 -0");
      CHECK(index.found("dear") == 0);
      CHECK(index.found("shines") == 1);
    }
  }
}

TEST_CASE("another file can get the slug of an entry that becomes private") {
  IndexFixture index;
  index.write("products.json", R"([{"slug":"x","name":"X"}])");
  REQUIRE(index.run());
  index.page("notes/x.md", "Lighthouses warn ships.");
  index.write("products.json", R"([{"slug":"x","name":"X","private":true}, "note"])");
  CHECK(counts(index.run()) == "+0 ~1 =0 -0");
  CHECK(index.slugs() == std::set<std::string>{"x"});
  CHECK(index.found("lighthouses") == 1);
}

TEST_CASE("a product keeps the text of its entry while a list outside the run cannot be read") {
  for (const std::string_view broken : {"[{", "", "[{\"slug\": \"torch\"}, \"note\"]"}) {
    CAPTURE(broken);
    Shop shop;
    REQUIRE(shop.run());
    shop.write("products.json", std::string(broken));
    if (broken.empty()) fs::remove(shop.list);
    CHECK(counts(shop.run(false, false, {shop.pages})) == "+0 ~0 =1 -0");
    CHECK(shop.all() == All{kLamp, kTorch});
    // If the page changes meanwhile, the text of the entry is back when the list can be read.
    shop.write_page("It glows.");
    CHECK(counts(shop.run(false, false, {shop.pages})) == "+0 ~1 =0 -0");
    CHECK(counts(shop.run(false, false, {shop.pages})) == "+0 ~0 =1 -0");
    shop.write_entry("8 EUR");
    CHECK(counts(shop.run(false, false, {shop.pages})) == "+0 ~1 =0 -0");
    CHECK(shop.all() == All{"lamp /products/lamp: It glows.|On ships.|price: 8 EUR.|", kTorch});
  }
}

TEST_CASE("another product with the same name stays when only the pages are indexed") {
  IndexFixture index;
  index.write("content/products/pen.md", "# Pen\n\nIt writes.\n");
  index.write("products.json",
              R"([{"slug":"pen-blue","name":"Pen"},{"slug":"pen-red","name":"Pen"}])");
  REQUIRE(index.run());
  REQUIRE(index.slugs() == std::set<std::string>{"pen", "pen-red"});
  CHECK(counts(index.run(false, false, {index.root / "content"})) == "+0 ~0 =1 -0");
  CHECK(index.slugs() == std::set<std::string>{"pen", "pen-red"});
  index.write("products.json", R"([{"slug":"pen-blue","name":"Pen"},{"slug":"pen-red","name":"Pen"},
                                  {"slug":"pen-green","name":"Pen","draft":true}])");
  index.write("content/products/pen.md", "# Pen\n\nIt writes well.\n");
  CHECK(counts(index.run(false, false, {index.root / "content"})) == "+0 ~1 =0 -0");
  CHECK(index.slugs() == std::set<std::string>{"pen", "pen-red"});
  // The entry that was united with the page does not stay as a document of its own.
  index.write("products.json", R"([{"slug":"pen-blue","name":"Biro"}])");
  REQUIRE(index.run(false, false, {index.root / "products.json"}));
  CHECK(index.slugs() == std::set<std::string>{"pen", "pen-blue"});
  index.write("products.json", R"([{"slug":"pen-blue","name":"Pen"}, "note"])");
  REQUIRE(index.run());
  CHECK(index.slugs() == std::set<std::string>{"pen"});
}

}  // namespace product_index_test
