#include "ingest/slug.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

namespace slug_test {

using namespace stoka::ingest;

TEST_CASE("slugs are lower case, in any script, with single dashes") {
  CHECK(slugify("Hello, World!") == "hello-world");
  CHECK(slugify("  --a__b..c-- ") == "a-b-c");
  CHECK(slugify("v2.1_x", "._") == "v2.1_x");
  CHECK(slugify("Über 数据库") == "über-数据库");
  CHECK(slugify("!!!").empty());
  CHECK(slugify(std::string(500, 'x')).size() == 128);
}

TEST_CASE("equal slugs are prefixed with folders, and an explicit slug is kept") {
  struct {
    std::vector<SlugRequest> requests;
    std::vector<std::string> expected;
  } cases[] = {
      {{}, {}},
      {{{"a", false, {"blog"}, "blog/a.md"}}, {"a"}},
      {{{"a", false, {"blog"}, "blog/a.md"}, {"a", false, {"notes"}, "notes/a.md"}},
       {"blog-a", "notes-a"}},
      {{{"a", false, {"blog"}, "blog/a.md"}, {"a", true, {"notes"}, "notes/x.md"}},
       {"blog-a", "a"}},
      {{{"a", true, {"z"}, "z/1.md"}, {"a", true, {"y"}, "y/2.md"}}, {"z-a", "a"}},
      {{{"a", false, {}, "a.md"}, {"a", false, {"blog"}, "blog/a.md"}}, {"a", "blog-a"}},
      {{{"a", false, {"x", "en"}, "x/en/a.md"}, {"a", false, {"y", "en"}, "y/en/a.md"}},
       {"x-en-a", "y-en-a"}},
      {{{"a", false, {"b"}, "b/a.md"}, {"a", false, {"b"}, "b/a.mdx"}}, {"a", "a-2"}},
      {{{"blog-a", false, {}, "blog-a.md"},
        {"a", false, {"blog"}, "blog/a.md"},
        {"a", false, {"c"}, "c/a.md"}},
       {"blog-a", "a", "c-a"}},
  };
  for (const auto& c : cases) CHECK(unique_slugs(c.requests) == c.expected);
}

TEST_CASE("slugs are unique and do not depend on the order of files") {
  std::mt19937 random(3);
  std::vector<SlugRequest> requests;
  for (int i = 0; i < 400; ++i) {
    std::string folder(1, static_cast<char>('a' + random() % 3)),
        other(1, static_cast<char>('x' + random() % 2));
    requests.push_back({"s" + std::to_string(random() % 9),
                        random() % 7 == 0,
                        {other, folder},
                        "p" + std::to_string(i)});
  }
  auto slugs = unique_slugs(requests);
  CHECK(std::set<std::string>(slugs.begin(), slugs.end()).size() == slugs.size());
  std::vector<size_t> order(requests.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<SlugRequest> shuffled;
  for (size_t i : order) shuffled.push_back(requests[i]);
  auto again = unique_slugs(shuffled);
  for (size_t i = 0; i < order.size(); ++i) CHECK(again[i] == slugs[order[i]]);
}

}  // namespace slug_test
