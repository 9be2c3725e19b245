#include "ingest/path_metadata.h"

#include <doctest/doctest.h>

namespace path_metadata_test {

using namespace stoka;
using namespace stoka::ingest;

TEST_CASE("a path yields slug, title, date, type and URL") {
  struct {
    std::string root, relative, slug, title, date, type, url;
  } cases[] = {
      {"site", "blog/bounded-execution.md", "bounded-execution", "Bounded execution", "", "blog",
       "/blog/bounded-execution"},
      {"blog", "a.md", "a", "A", "", "blog", "/blog/a"},
      {"site", "_posts/2024-01-31-Hello_World.markdown", "hello-world", "Hello World", "2024-01-31",
       "", "/hello-world"},
      {"site", "content/posts/2024/01/31/x.md", "x", "X", "2024-01-31", "blog",
       "/posts/2024/01/31/x"},
      {"site", "src/pages/about.md", "about", "About", "", "", "/about"},
      {"site", "docs/pages/x.md", "x", "X", "", "", "/docs/pages/x"},
      {"site", "patch-notes/v2.1.md", "v2-1", "V2 1", "", "changelog", "/patch-notes/v2-1"},
      {"site", "blog/_index.md", "blog", "Blog", "", "blog", "/blog"},
      {"site", "blog/post/index.fr.md", "post-fr", "Post", "", "blog", "/blog/post"},
      {"site", "README.md", "home", "Home", "", "", "/"},
      {"site", "name.zh-CN.md", "name-zh-cn", "Name zh CN", "", "", "/name-zh-cn"},
      {"site", "2024-13-45-x.md", "2024-13-45-x", "2024 13 45 x", "", "", "/2024-13-45-x"},
      {"site", "2024-01-31.md", "2024-01-31", "2024 01 31", "2024-01-31", "", "/2024-01-31"},
      {"site", "数据库.md", "数据库", "数据库", "", "", "/数据库"},
      {"site", "!!!.md", "", "!!!", "", "", "/"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.relative);
    PathMetadata metadata = path_metadata({"x", c.relative, c.root});
    CHECK(metadata.slug == c.slug);
    CHECK(metadata.title == c.title);
    CHECK((metadata.date ? iso_date(*metadata.date) : "") == c.date);
    CHECK(metadata.type == c.type);
    CHECK(default_url(metadata, metadata.slug) == c.url);
  }
}

TEST_CASE("a permalink yields a slug and a date unless it is a pattern") {
  CHECK(permalink_slug("/2024/01/31/my-post/") == "my-post");
  CHECK(permalink_slug("/blog/My.Post.html") == "my.post");
  CHECK(permalink_slug("/blog/post/index.html") == "post");
  CHECK(permalink_slug("https://example.org/a/b?x#y") == "b");
  CHECK(permalink_slug("https://example.org").empty());
  CHECK(permalink_slug("/:year/:title/").empty());
  CHECK(permalink_slug("/").empty());
  CHECK(permalink_date("/blog/2024/01/31/x/") == parse_date("2024-01-31"));
  CHECK_FALSE(permalink_date("/2024/x/").has_value());
}

}  // namespace path_metadata_test
