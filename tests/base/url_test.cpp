#include "base/url.h"

#include <doctest/doctest.h>

namespace url_test {

using namespace stoka;

TEST_CASE("only http and https URLs and paths of the site become links") {
  struct Case {
    std::string address;
    const char* site;
    std::string link;
  };
  const Case cases[] = {
      {"https://a.test/x", "", "https://a.test/x"},
      {"http://a.test", "https://b.test", "http://a.test"},
      {"HTTPS://a.test/x", "", "HTTPS://a.test/x"},
      {"/blog/x", "https://a.test/", "https://a.test/blog/x"},
      {"/blog/x", "https://a.test/docs//", "https://a.test/docs/blog/x"},
      {"/blog/x", "", "/blog/x"},
      {"/", "https://a.test", "https://a.test/"},
      // A site that is not a web address is ignored.
      {"/blog/x", "javascript:alert(1)//", "/blog/x"},
      {"//evil.test/x", "https://a.test", ""},
      {"/\\evil.test/x", "https://a.test", ""},
      {"/a\\b", "https://a.test", "https://a.test/a%5Cb"},
      {"javascript:alert(1)", "https://a.test", ""},
      {" javascript:alert(1)", "https://a.test", ""},
      {"data:text/html,x", "", ""},
      {"file:///etc/passwd", "https://a.test", ""},
      {"https://", "", ""},
      {"https:///x", "", ""},
      {"http:a.test", "", ""},
      {"blog/x", "https://a.test", ""},
      {"", "https://a.test", ""},
      {"/a\x1b]8;;\x07", "https://a.test", ""},
      {"/a\r\nSet-Cookie: b", "https://a.test", ""},
      {std::string("/a\0b", 4), "https://a.test", ""},
      {"/a\x7f", "https://a.test", ""},
      {"/caf\u00e9 x", "https://a.test", "https://a.test/caf%C3%A9%20x"},
      {"/a\"<b>`{c}|^d", "", "/a%22%3Cb%3E%60%7Bc%7D%7C%5Ed"},
      {"/a%20b?c=d&e=(f)#g", "", "/a%20b?c=d&e=(f)#g"},
      // The C1 form of an escape sequence.
      {"/a\xc2\x9b", "", "/a%C2%9B"},
      {"/a\xff", "", "/a%FF"},
      {"/" + std::string(2047, 'a'), "", "/" + std::string(2047, 'a')},
      {"/" + std::string(2048, 'a'), "", ""},
      {"/" + std::string(2047, 'a'), "https://a.test", ""},
      {"/" + std::string(2047, ' '), "", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.address);
    CHECK(safe_link(c.address, c.site) == c.link);
  }
}

TEST_CASE("a text counts as a web address if it has a scheme and a host") {
  for (const char* yes : {"http://a", "https://a.test:80/x", "HtTp://a"}) CHECK(is_http_url(yes));
  for (const char* no : {"", "a.test", "http://", "https://?a", "https://#", "ftp://a", "/a"})
    CHECK_FALSE(is_http_url(no));
}

TEST_CASE("all bytes but letters, digits and the given characters are percent-encoded") {
  CHECK(percent_encode("aZ09-._~ /%\xC3\xBC", "-/") == "aZ09-%2E%5F%7E%20/%25%C3%BC");
  CHECK(percent_encode("", "").empty());
}

TEST_CASE("split_url separates the host from the path") {
  struct {
    const char *url, *host, *path;
  } cases[] = {
      {"https://a.test:8080/x/y?q#f", "a.test:8080", "/x/y"},
      {"https://a.test?q=/x", "a.test", ""},
      {"/x?to=https://a.test/y", "", "/x"},
      {"x/y", "", "x/y"},
      {"", "", ""},
  };
  for (const auto& c : cases) {
    CAPTURE(c.url);
    CHECK(split_url(c.url).host == c.host);
    CHECK(split_url(c.url).path == c.path);
  }
}

TEST_CASE("page_path maps all spellings of a page to one path") {
  for (auto [page, path] : std::initializer_list<std::pair<const char*, const char*>>{
           {"/blog/", "/blog"},
           {"/blog?x=1", "/blog"},
           {"/blog#top", "/blog"},
           {"https://example.org", "/"},
           {"https://example.org?to=/x", "/"},
           {"/go?to=https://example.org/x", "/go"},
           {"https://example.org/", "/"},
           {"https://example.org/blog/index.html?x", "/blog"},
           {"/index.html", "/"},
           {"/", "/"},
           {"", ""}}) {
    CAPTURE(std::string(page));
    CHECK(page_path(page) == path);
  }
}

TEST_CASE("page_slug returns the end of a page path") {
  for (auto [page, slug] : std::initializer_list<std::pair<const char*, const char*>>{
           {"/blog/some-post", "some-post"},
           {"/blog/some-post/", "some-post"},
           {"https://example.org/blog/some-post/?a=b#c", "some-post"},
           {"/some-post.html", "some-post"},
           {"some-post", "some-post"},
           {"/", ""},
           {"", ""},
           {"https://example.org", ""}}) {
    CAPTURE(std::string(page));
    CHECK(page_slug(page) == slug);
  }
}

}  // namespace url_test
