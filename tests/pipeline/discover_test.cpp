#include "pipeline/discover.h"

#include <doctest/doctest.h>

#include "support/site_fixture.h"

namespace discover_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kVisitor = "abcdef22-2222-4222-8222-222222222222";
constexpr const char* kInUpperCase = "ABCDEF22-2222-4222-8222-222222222222";

std::vector<std::string> slugs(const pipeline::Recommendations& found) {
  std::vector<std::string> out;
  for (const auto& item : found.items) out.push_back(item.citation.slug);
  return out;
}

bool has(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

pipeline::DiscoverRequest on_page(std::string page, int limit = 3) {
  pipeline::DiscoverRequest request;
  request.page.page = std::move(page);
  request.limit = limit;
  return request;
}

}  // namespace

TEST_CASE("discover returns `limit` documents for a page, each once and never the page itself") {
  SiteFixture fixture;
  for (int limit : {1, 3, 10}) {
    auto found =
        pipeline::discover(fixture.engine(), on_page("/blog/philosophy-bounded-execution", limit));
    REQUIRE(found);
    CHECK(found->items.size() == static_cast<size_t>(limit));
    auto all = slugs(*found);
    CHECK(!has(all, "philosophy-bounded-execution"));
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
    for (const auto& item : found->items) {
      CHECK(!item.citation.quote.empty());
      CHECK(item.citation.score >= 0);
    }
  }
}

TEST_CASE("discover leaves out what the client has seen and the visitor has read") {
  SiteFixture fixture;
  auto request = on_page("/blog/philosophy-bounded-execution");
  std::string first = slugs(*pipeline::discover(fixture.engine(), request)).front();
  request.page.seen_slugs = {first};
  CHECK(!has(slugs(*pipeline::discover(fixture.engine(), request)), first));
  request.page.seen_slugs.clear();
  request.visitor_id = kVisitor;
  REQUIRE(fixture.store->update_visitor(kVisitor, std::nullopt,
                                        std::vector<HistoryEntry>{{first, kNow, 100}}, kNow));
  CHECK(!has(slugs(*pipeline::discover(fixture.engine(), request)), first));
}

TEST_CASE("without a page the declared interests decide") {
  SiteFixture fixture;
  REQUIRE(fixture.store->update_visitor(kVisitor, std::vector<std::string>{"sqlite"}, {}, kNow));
  pipeline::DiscoverRequest request;
  for (const std::string& visitor : {std::string(kVisitor), std::string(kInUpperCase)}) {
    request.visitor_id = visitor;
    auto found = pipeline::discover(fixture.engine(), request);
    REQUIRE(found);
    CHECK(slugs(*found).front() == "sqlite-in-production");
  }
}

TEST_CASE("without a page and interests the newest documents are recommended") {
  SiteFixture fixture;
  auto found = pipeline::discover(fixture.engine(), on_page(""));
  REQUIRE(found);
  REQUIRE(found->items.size() == 3);
  CHECK(found->items[0].citation.date == "Nov 15");
  CHECK(found->confidence == Confidence::adjacent);
  fixture.clock.advance(std::chrono::hours(24 * 90));
  CHECK(pipeline::discover(fixture.engine(), on_page(""))->items[0].citation.date ==
        "Nov 15, 2026");
}

TEST_CASE("recommendations and the ambient citation link to their quotes on the site") {
  SiteFixture fixture;
  fixture.settings.site_url = "https://a.test";
  const std::string page = "/blog/debono-boss-fight";
  const auto found = pipeline::discover(fixture.engine(), on_page(page, 10)).value();
  std::vector<Citation> all = {pipeline::ambient(fixture.engine(), page).value().citation.value()};
  for (const auto& item : found.items) all.push_back(item.citation);
  for (const Citation& citation : all) {
    CAPTURE(citation.url);
    CHECK(citation.url.starts_with("https://a.test/"));
    CHECK(citation.url.find("#:~:text=") != std::string::npos);
    CHECK((citation.kind == CiteKind::product) == (citation.type == "product"));
  }
}

TEST_CASE("a limit out of range and an invalid visitor id give usage errors") {
  SiteFixture fixture;
  CHECK(pipeline::discover(fixture.engine(), on_page("/", 0)).error().kind == ErrorKind::usage);
  CHECK(pipeline::discover(fixture.engine(), on_page("/", 11)).error().kind == ErrorKind::usage);
  auto request = on_page("/");
  request.visitor_id = "x";
  CHECK(pipeline::discover(fixture.engine(), request).error().kind == ErrorKind::usage);
}

TEST_CASE(
    "ambient: known pages and products have a hint, posts also a citation, unknown pages nothing") {
  SiteFixture fixture;
  auto front = pipeline::ambient(fixture.engine(), "/").value();
  CHECK(!front.hint.empty());
  CHECK(!front.citation);
  for (const char* page : {"/products", "/blog", "/blog/page/2", "/blog/no-such-post"}) {
    CAPTURE(std::string(page));
    const auto list = pipeline::ambient(fixture.engine(), page).value();
    CHECK(!list.hint.empty());
    CHECK(!list.citation);
  }
  const auto product = pipeline::ambient(fixture.engine(), "/products/debono").value();
  CHECK(product.hint == fixture.golden.product_hints.front());
  CHECK(!product.citation);
  CHECK(pipeline::ambient(fixture.engine(), "/products/nonsense").value().hint == "");
  auto post = pipeline::ambient(fixture.engine(), "/blog/debono-boss-fight").value();
  CHECK(!post.hint.empty());
  REQUIRE(post.citation);
  CHECK(post.citation->slug != "debono-boss-fight");
  CHECK(pipeline::to_json(pipeline::ambient(fixture.engine(), "/nowhere").value()) ==
        R"({"hint":null,"cite":null})");
}

TEST_CASE("the JSON of recommendations has its fields in order") {
  SiteFixture fixture;
  std::string json = pipeline::to_json(
      *pipeline::discover(fixture.engine(), on_page("/blog/debono-boss-fight", 1)));
  size_t at = 0;
  for (const char* key : {"{\"recommendations\":[{\"slug\":", "\"title\":", "\"quote\":",
                          "\"type\":", "\"reading_time\":", "\"date\":", "\"score\":", "\"kind\":",
                          "\"url\":", "\"published\":", "\"framing\":", "\"confidence\":"}) {
    CAPTURE(std::string(key));
    at = json.find(key, at);
    REQUIRE(at != std::string::npos);
  }
}

}  // namespace discover_test
