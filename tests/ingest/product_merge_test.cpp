#include "ingest/product_merge.h"

#include <doctest/doctest.h>

#include "ingest/loader.h"

namespace product_merge_test {

using namespace stoka;
using namespace stoka::ingest;

namespace {

std::vector<Page> pages_of(std::string relative, std::string_view text) {
  return load_bytes({"/site/" + relative, relative, "site"}, text, "v1").pages;
}

std::vector<Page> both(std::string relative, std::string_view page, std::string_view products) {
  std::vector<Page> out = pages_of("products.json", products);
  for (Page& one : pages_of(std::move(relative), page)) out.push_back(std::move(one));
  return out;
}

std::string text_of(const Page& page) {
  std::string out;
  for (const Block& block : page.blocks) out += block.text + "|";
  return out;
}

}  // namespace

TEST_CASE("a page and the entry of the same product are merged") {
  struct {
    std::string_view name, file, page, products;
    size_t documents;
  } cases[] = {
      {"by URL", "products/lamp.md", "# The lamp", R"([{"name": "L1", "url": "/products/lamp"}])",
       1},
      {"by a URL in another form", "products/lamp.md", "# The lamp",
       R"([{"name": "L1", "url": "https://x.example/products/lamp/index.html#buy"}])", 1},
      {"by slug", "products/lamp.md", "# The lamp",
       R"([{"slug": "lamp", "name": "L1", "url": "/l"}])", 1},
      {"by name", "products/lamp.md", "# Lamp", R"([{"slug": "product-lamp", "name": "LAMP"}])", 1},
      {"by its type in the frontmatter", "lamp.md",
       "---\ntitle: Lamp\ntype: product\n---\nIt shines.",
       R"([{"slug": "product-lamp", "name": "Lamp"}])", 1},
      {"not an essay of the same name", "blog/lamp.md", "# Lamp\n\nOn lamps.",
       R"([{"slug": "lamp", "name": "Lamp"}])", 2},
      {"not another product", "products/lamp.md", "# Lamp", R"([{"name": "Torch"}])", 2},
      {"not the page that lists all products", "products/_index.md", "# All of them",
       R"([{"name": "Torch", "url": "/products"}, {"name": "Lamp", "url": "/products/"}])", 3},
      {"not the home page", "_index.md", "# Home", R"([{"name": "Torch", "url": "/"}])", 2},
      {"a page of the site, by its path", "docs/_index.md", "# Docs",
       R"([{"name": "Foo", "url": "/docs"}])", 1},
      {"not a page with the same path on another host", "docs/_index.md", "# Docs",
       R"([{"name": "Foo", "url": "https://foo.dev/docs"}])", 2},
      {"not a product with the same path on another host", "docs/_index.md",
       "---\ntitle: Docs\ntype: product\nurl: https://near.dev/docs\n---\nText.",
       R"([{"name": "Foo", "url": "https://foo.dev/docs"}])", 2},
      {"a page on the same host", "docs/_index.md", "---\nurl: https://foo.dev/docs/\n---\n# Docs",
       R"([{"name": "Foo", "url": "https://foo.dev/docs"}])", 1},
      {"a page takes only one entry", "products/lamp.md", "# Lamp",
       R"([{"slug": "a", "name": "Lamp"}, {"slug": "b", "name": "Lamp"}])", 2},
  };
  for (const auto& c : cases) {
    CAPTURE(c.name);
    std::vector<Page> pages = both(std::string(c.file), c.page, c.products);
    merge_products(pages);
    CHECK(pages.size() == c.documents);
  }
}

TEST_CASE("of two pages with the same path, the entry is merged with the page on its own host") {
  std::vector<Page> pages =
      both("far.md", "---\nurl: https://far.dev/docs\n---\nFar.",
           R"([{"name": "Foo", "price": "9 EUR", "url": "https://foo.dev/docs"}])");
  for (Page& page : pages_of("near.md", "---\nurl: https://foo.dev/docs\n---\nNear."))
    pages.push_back(std::move(page));
  merge_products(pages);
  REQUIRE(pages.size() == 2);
  CHECK(text_of(pages[0]) == "Far.|");
  CHECK(text_of(pages[1]).starts_with("Near.|"));
  CHECK(text_of(pages[1]).find("price: 9 EUR.") != std::string::npos);
}

TEST_CASE("the page keeps its own data and gains what only the entry has") {
  std::vector<Page> pages = both(
      "products/lamp.md",
      "---\ntitle: The Lamp\ndate: 2026-01-02\ntags: [light]\n---\n# The Lamp\n\nIt shines.\n\n## "
      "Use\n\nOn ships.",
      R"([{"slug": "product-lamp", "name": "The Lamp", "tagline": "It shines.", "price": "9 EUR",
           "status": "active", "url": "/shop/lamp", "tags": ["light", "ships"], "date": "2020-01-01"}])");
  const std::string alone = pages[1].document.content_hash;
  merge_products(pages);
  REQUIRE(pages.size() == 1);
  const Document& document = pages[0].document;
  CHECK(document.slug == "lamp");
  CHECK(document.title == "The Lamp");
  CHECK(document.path == "/site/products/lamp.md");
  CHECK(document.url == "/shop/lamp");  // the page itself had only a default URL
  CHECK(document.date == parse_date("2026-01-02"));
  CHECK(document.description == "It shines.");
  CHECK(document.tags == std::vector<std::string>{"light", "ships"});
  CHECK(document.type == "product");
  CHECK(text_of(pages[0]) ==
        "The Lamp|It shines.|Use|On ships.|The Lamp|price: 9 EUR.|status: active.|");
  CHECK(page_hash(document.content_hash) == alone);
  CHECK(entry_path(document.content_hash) == "/site/products.json");
  CHECK(entry_path(alone).empty());
  CHECK(entry_hash(alone).empty());
  CHECK(pages[0].merged_entry_slug == "product-lamp");
  const std::string waiting = hash_without_entry(alone, "/site/products.json");
  CHECK(page_hash(waiting) == alone);
  CHECK(entry_hash(waiting).empty());
  CHECK(entry_path(waiting) == "/site/products.json");
}

TEST_CASE("documents match by URL or, among products, by slug or name") {
  struct Subject {
    std::string slug, title, type, url;
  };
  const Subject lamp{"lamp", "The Lamp", "product", "/products/lamp"};
  const Subject far{"far", "Far", "product", "https://far.dev/docs"};
  struct {
    Subject known, asked;
    bool same;
  } cases[] = {
      {lamp, {"l", "L", "page", "/products/lamp/"}, true},
      {lamp, {"l", "L", "page", "https://x.example/products/lamp.html"}, true},
      {lamp, {"lamp", "L", "product", "/l"}, true},
      {lamp, {"l", "the  LAMP", "product", "/l"}, true},
      {lamp, {"lamp", "The Lamp", "blog", "/blog/lamp"}, false},
      {lamp, {"torch", "Torch", "product", "/products/torch"}, false},
      {far, {"docs", "Docs", "page", "/docs"}, false},
      {far, {"docs", "Docs", "page", "https://far.dev/docs/"}, true},
      {far, {"docs", "Docs", "product", "/docs"}, true},
      {far, {"docs", "Docs", "product", "https://near.dev/docs"}, false},
      {{"a", "A", "page", "/"}, {"b", "B", "product", "/"}, false},
  };
  const auto document = [](const Subject& subject) {
    Document out;
    out.slug = subject.slug, out.title = subject.title, out.type = subject.type,
    out.url = subject.url;
    return out;
  };
  for (const auto& c : cases) {
    CAPTURE(c.known.url);
    CAPTURE(c.asked.url);
    for (bool turned : {false, true}) {
      DocumentMatcher matcher;
      matcher.add(document(turned ? c.asked : c.known));
      CHECK(matcher.contains(document(turned ? c.known : c.asked)) == c.same);
    }
  }
}

}  // namespace product_merge_test
