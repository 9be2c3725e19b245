#include "cite/citation.h"

#include <doctest/doctest.h>

namespace citation_test {

using namespace stoka;
using namespace stoka::cite;

namespace {

Hit hit(const char* url = "/blog/bounded") {
  Hit out;
  out.chunk.slug = "bounded";
  out.chunk.title = "On Bounds";
  out.chunk.type = "philosophy";
  out.chunk.reading_minutes = 8;
  out.chunk.date = parse_date("2002-11-25");
  out.chunk.url = url;
  out.score = 0.91;
  return out;
}

std::string url_of(const char* url, const char* site, std::string quote = "A bound.") {
  return make_citation(hit(url), std::move(quote), {site, *parse_date("2026-11-22")}).url;
}

}  // namespace

TEST_CASE("a citation contains the metadata of its hit, the quote and a short date") {
  const Citation out =
      make_citation(hit(), "A bound.", {"https://a.test", *parse_date("2026-11-22")});
  CHECK(data_json(CiteEvent{out}) ==
        R"({"slug":"bounded","title":"On Bounds","quote":"A bound.","type":"philosophy",)"
        R"("reading_time":"8 min","date":"Nov 25, 2002","score":0.91,"kind":"block",)"
        R"("url":"https://a.test/blog/bounded#:~:text=A%20bound.","published":"2002-11-25"})");
  CHECK(make_citation(hit(), "", {"", *parse_date("2002-12-31")}).date == "Nov 25");
}

TEST_CASE("unknown metadata of a document is null") {
  Hit bare;
  bare.chunk.slug = "bare";
  CHECK(data_json(CiteEvent{make_citation(bare, "", {})}) ==
        R"({"slug":"bare","title":"","quote":"","type":"","reading_time":"1 min","date":"",)"
        R"("score":0.0,"kind":"block","url":null,"published":null})");
}

TEST_CASE("a product has its own kind of citation") {
  Hit product = hit();
  product.chunk.type = "product";
  CHECK(make_citation(product, "q", {}).kind == CiteKind::product);
  CHECK(make_citation(hit(), "q", {}).kind == CiteKind::block);
}

TEST_CASE("a URL is absolute if the site is known, and leads to the quote") {
  CHECK(url_of("/blog/a", "https://a.test") == "https://a.test/blog/a#:~:text=A%20bound.");
  CHECK(url_of("/blog/a", "") == "/blog/a#:~:text=A%20bound.");
  CHECK(url_of("https://b.test/a", "https://a.test") == "https://b.test/a#:~:text=A%20bound.");
  // The URL already has a fragment.
  CHECK(url_of("/blog/a#why", "https://a.test") == "https://a.test/blog/a#why");
  CHECK(url_of("/blog/a", "https://a.test", "") == "https://a.test/blog/a");
  for (const char* hostile : {"", "javascript:alert(1)", "//evil.test", "/a\x1b]8;;x\x07"})
    CHECK(url_of(hostile, "https://a.test").empty());
}

TEST_CASE("a text fragment that would make the link too long is left out") {
  std::string quote;
  for (int i = 0; i < 300; ++i) quote += "\u65e5";
  CHECK(url_of("/blog/a", "https://a.test", quote) == "https://a.test/blog/a");
  quote.resize(3 * 200);
  CHECK(url_of("/blog/a", "https://a.test", quote).size() == 30 + 9 * 200);
}

TEST_CASE("a text fragment contains a short quote in full and both ends of a long one") {
  struct Case {
    const char* quote;
    const char* fragment;
  };
  const Case cases[] = {
      {"", ""},
      {"  ", ""},
      {"A bound is a limit.", "#:~:text=A%20bound%20is%20a%20limit."},
      {"two\n  lines", "#:~:text=two%20lines"},
      {"well-known, R&D: 100% #1 \"x\"",
       "#:~:text=well%2Dknown%2C%20R%26D%3A%20100%25%20%231%20%22x%22"},
      {"caf\u00e9 \u65e5\u672c", "#:~:text=caf%C3%A9%20%E6%97%A5%E6%9C%AC"},
      // 64 code points, and one more.
      {"aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaa",
       "#:~:text=aaaaaaaaa%20aaaaaaaaa%20aaaaaaaaa%20aaaaaaaaa%20aaaaaaaaa%20aaaaaaaaa%20aaaa"},
      {"aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaaaaaa aaaaa",
       "#:~:text=aaaaaaaaa%20aaaaaaaaa%20aaaaaaaaa,aaaaaaaaa%20aaaaaaaaa%20aaaaa"},
      {"Autonomy without constraint, so to speak, is just chaos with far-better marketing.",
       "#:~:text=Autonomy%20without%20constraint%2C,far%2Dbetter%20marketing."},
      {"日本語のテキストは空白なしで続くので長くなる、だから句読点で切るしかない。これは真ん中の文"
       "で、リンクには入らない。最後の文も句読点で切られるので長くなる。",
       "#:~:text="
       "%E6%97%A5%E6%9C%AC%E8%AA%9E%E3%81%AE%E3%83%86%E3%82%AD%E3%82%B9%E3%83%88%E3%81%AF%E7%A9%BA"
       "%E7%99%BD%E3%81%AA%E3%81%97%E3%81%A7%E7%B6%9A%E3%81%8F%E3%81%AE%E3%81%A7%E9%95%B7%E3%81%8F"
       "%E3%81%AA%E3%82%8B%E3%80%81,"
       "%E6%9C%80%E5%BE%8C%E3%81%AE%E6%96%87%E3%82%82%E5%8F%A5%E8%AA%AD%E7%82%B9%E3%81%A7%E5%88%87"
       "%E3%82%89%E3%82%8C%E3%82%8B%E3%81%AE%E3%81%A7%E9%95%B7%E3%81%8F%E3%81%AA%E3%82%8B%E3%80%"
       "82"},
      // The two ends would overlap, so the whole quote is used.
      {"short aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
       "#:~:text=short%20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
      {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
       "#:~:text=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.quote));
    CHECK(text_fragment(c.quote) == c.fragment);
  }
}

}  // namespace citation_test
