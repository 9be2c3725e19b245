// Products, whose pages and entries are read by the same run or by different ones.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "pipeline/index_run.h"
#include "site.h"

namespace product_index_test {

using namespace stoka;
using namespace stoka::test;

namespace {

// A product with a page and an entry, which are indexed in many ways.
struct Shop : Site {
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
  // All that is indexed, "slug url: text".
  std::set<std::string> all() {
    std::set<std::string> out;
    auto documents = house.store->documents().value();
    for (const auto& info : documents) {
      std::string text;
      auto chunks = house.store->chunks_of(info.document.slug).value();
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

TEST_CASE("a product is one document in whatever order and runs its page and entry are read") {
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
    // Nor do further runs of either change anything.
    for (const auto& paths :
         std::vector<std::vector<fs::path>>{{shop.pages}, {shop.list}, {shop.list, shop.pages}}) {
      auto again = shop.run(false, false, paths);
      REQUIRE(again);
      CHECK(again->added + again->changed + again->removed == 0);
    }
  }
}

TEST_CASE("a change of either side of a product arrives by a run of that side alone") {
  Shop shop;
  REQUIRE(shop.run());
  shop.write_entry("8 EUR");
  CHECK(counts(shop.run(false, false, {shop.list})) == "+0 ~1 =1 -0");
  CHECK(shop.all() == All{"lamp /products/lamp: It shines.|On ships.|price: 8 EUR.|", kTorch});
  shop.write_page("It glows.");
  CHECK(counts(shop.run(false, false, {shop.pages})) == "+0 ~1 =0 -0");
  CHECK(shop.all() == All{"lamp /products/lamp: It glows.|On ships.|price: 8 EUR.|", kTorch});
}

TEST_CASE("a product whose page or entry goes is told by the other") {
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
    CHECK(report->gone == 0);
    CHECK(shop.all() == All{"product-lamp /products/lamp: price: 9 EUR.|", kTorch});
  }
}

TEST_CASE("a product keeps what its entry said while the list cannot be read") {
  Shop shop;
  REQUIRE(shop.run());
  shop.write("products.json", "[{\"slug\": ");
  CHECK(counts(shop.run()) == "+0 ~0 =1 -0");
  CHECK(shop.all() == All{kLamp, kTorch});
}

TEST_CASE("an entry stays when another entry of the same slug is kept from readers") {
  struct {
    std::string file, text;
  } cases[] = {
      {"products.json", R"([{"slug":"x","draft":true},{"slug":"x","name":"X"}])"},
      {"c.jsonl", "{\"id\":\"x\",\"text\":\"X.\",\"private\":1}\n{\"id\":\"x\",\"text\":\"X.\"}\n"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.file);
    Site site;
    site.write(c.file, c.text);
    const std::vector<fs::path> paths = {site.root / c.file};
    CHECK(counts(site.run(false, false, paths)) == "+1 ~0 =0 -0");
    for (int again = 0; again < 2; ++again) {
      CHECK(counts(site.run(false, false, paths)) == "+0 ~0 =1 -0");
      CHECK(site.slugs() == std::set<std::string>{"x"});
    }
  }
}

TEST_CASE("an entry that becomes private leaves its page, though the list is torn") {
  // The whole site is indexed at first, then it again or only its pages.
  for (bool whole : {true, false}) {
    for (const std::string_view hidden :
         {R"({"slug":"a","price":"9","secret":true})", R"({"name":"The lamp","secret":true})",
          R"({"slug":"b","url":"https://x.example/products/a","secret":true})"}) {
      CAPTURE(whole);
      CAPTURE(hidden);
      Site site;
      site.write("products/a.md", "# The lamp\n\nIt shines.\n");
      site.write("products.json", R"([{"slug":"a","price":"dear"}])");
      REQUIRE(site.run());
      REQUIRE(site.found("dear") == 1);
      site.write("products.json", fmt::format("[{}, \"note\"]", hidden));
      const auto paths = whole ? std::vector<fs::path>{} : std::vector{site.root / "products"};
      CHECK(counts(site.run(false, false, paths)) == "+0 ~1 =0 -0");
      CHECK(site.found("dear") == 0);
      CHECK(site.found("shines") == 1);
    }
  }
}

TEST_CASE("the slug of an entry that becomes private is free for another file") {
  Site site;
  site.write("products.json", R"([{"slug":"x","name":"X"}])");
  REQUIRE(site.run());
  site.page("notes/x.md", "Lighthouses warn ships.");
  site.write("products.json", R"([{"slug":"x","name":"X","private":true}, "note"])");
  CHECK(counts(site.run()) == "+0 ~1 =0 -0");
  CHECK(site.slugs() == std::set<std::string>{"x"});
  CHECK(site.found("lighthouses") == 1);
}

TEST_CASE("a product keeps what its entry said while a list outside the run cannot be read") {
  for (const std::string_view broken : {"[{", "", "[{\"slug\": \"torch\"}, \"note\"]"}) {
    CAPTURE(broken);
    Shop shop;
    REQUIRE(shop.run());
    shop.write("products.json", std::string(broken));
    if (broken.empty()) fs::remove(shop.list);
    CHECK(counts(shop.run(false, false, {shop.pages})) == "+0 ~0 =1 -0");
    CHECK(shop.all() == All{kLamp, kTorch});
    // The page changes meanwhile: what the entry said comes back with the list.
    shop.write_page("It glows.");
    CHECK(counts(shop.run(false, false, {shop.pages})) == "+0 ~1 =0 -0");
    CHECK(counts(shop.run(false, false, {shop.pages})) == "+0 ~0 =1 -0");
    shop.write_entry("8 EUR");
    CHECK(counts(shop.run(false, false, {shop.pages})) == "+0 ~1 =0 -0");
    CHECK(shop.all() == All{"lamp /products/lamp: It glows.|On ships.|price: 8 EUR.|", kTorch});
  }
}

TEST_CASE("another product of the same name stays when the pages are indexed alone") {
  Site site;
  site.write("content/products/pen.md", "# Pen\n\nIt writes.\n");
  site.write("products.json",
             R"([{"slug":"pen-blue","name":"Pen"},{"slug":"pen-red","name":"Pen"}])");
  REQUIRE(site.run());
  REQUIRE(site.slugs() == std::set<std::string>{"pen", "pen-red"});
  CHECK(counts(site.run(false, false, {site.root / "content"})) == "+0 ~0 =1 -0");
  CHECK(site.slugs() == std::set<std::string>{"pen", "pen-red"});
  site.write("products.json", R"([{"slug":"pen-blue","name":"Pen"},{"slug":"pen-red","name":"Pen"},
                                  {"slug":"pen-green","name":"Pen","draft":true}])");
  site.write("content/products/pen.md", "# Pen\n\nIt writes well.\n");
  CHECK(counts(site.run(false, false, {site.root / "content"})) == "+0 ~1 =0 -0");
  CHECK(site.slugs() == std::set<std::string>{"pen", "pen-red"});
  // The one that was united is not left behind.
  site.write("products.json", R"([{"slug":"pen-blue","name":"Biro"}])");
  REQUIRE(site.run(false, false, {site.root / "products.json"}));
  CHECK(site.slugs() == std::set<std::string>{"pen", "pen-blue"});
  site.write("products.json", R"([{"slug":"pen-blue","name":"Pen"}, "note"])");
  REQUIRE(site.run());
  CHECK(site.slugs() == std::set<std::string>{"pen"});
}

}  // namespace product_index_test
