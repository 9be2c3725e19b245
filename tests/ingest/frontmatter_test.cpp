#include "ingest/frontmatter.h"

#include <doctest/doctest.h>

namespace frontmatter_test {

using namespace stoka;
using namespace stoka::ingest;

namespace {

Frontmatter read(std::string_view text) { return parse_frontmatter(split_frontmatter(text)); }
std::string_view body(std::string_view text) { return split_frontmatter(text).body; }
using List = std::vector<std::string>;

}  // namespace

TEST_CASE("frontmatter is distinguished from pages that only begin like it") {
  struct {
    std::string_view text;
    FrontmatterFormat format;
    std::string_view body;
  } cases[] = {
      {"---\ntitle: x\n---\nbody", FrontmatterFormat::yaml, "body"},
      {"---\ntitle: x\n...\nbody", FrontmatterFormat::yaml, "body"},
      {"--- \ntitle: x\n---  \nbody", FrontmatterFormat::yaml, "body"},
      {"\n\n---\ntitle: x\n---\nbody", FrontmatterFormat::yaml, "body"},
      {"---\n---\nbody", FrontmatterFormat::yaml, "body"},
      {"+++\ntitle = \"x\"\n+++\nbody", FrontmatterFormat::toml, "body"},
      {"{\"title\": \"a } b\"}\nbody", FrontmatterFormat::json, "\nbody"},
      {"---\n\nProse after a rule.\n\n---\nmore", FrontmatterFormat::none,
       "---\n\nProse after a rule.\n\n---\nmore"},
      {"# Title\n\n---\ntitle: x\n---\n", FrontmatterFormat::none,
       "# Title\n\n---\ntitle: x\n---\n"},
      {"{{< shortcode >}} text", FrontmatterFormat::none, "{{< shortcode >}} text"},
      {"{% include x %}", FrontmatterFormat::none, "{% include x %}"},
      {"---", FrontmatterFormat::none, "---"},
      {"----\ntitle: x\n----\n", FrontmatterFormat::none, "----\ntitle: x\n----\n"},
      {"{\"title\": \"never closed", FrontmatterFormat::none, "{\"title\": \"never closed"},
      {"", FrontmatterFormat::none, ""},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(split_frontmatter(c.text).format == c.format);
    CHECK(body(c.text) == c.body);
  }
}

TEST_CASE("the spellings of Astro, Hugo, Zola, Jekyll and JSON have the same meaning") {
  std::string_view texts[] = {
      // Astro
      "---\ntitle: \"Caches: nine of them\"\npubDate: 2026-05-31\ntags: [Caching, Web "
      "Performance]\n"
      "description: On caches.\nauthor: Ilse\nreadingTime: 8 min read\n---\n",
      // Hugo
      "+++\ntitle = \"Caches: nine of them\"\ndate = 2026-05-31T10:00:00+02:00\n"
      "tags = [\"caching\", \"web performance\"]\nsummary = \"On caches.\"\nauthor = \"Ilse\"\n"
      "readingTime = 8\n[[menus.main]]\nname = \"x\"\n[params]\ntoc = true\n+++\n",
      // Zola
      "+++\ntitle = \"Caches: nine of them\"\ndate = 2026-05-31\ndescription = \"On caches.\"\n"
      "[taxonomies]\ntags = [\"Caching\", \"web  performance\"]\n[extra]\nauthor = \"Ilse\"\n"
      "reading_minutes = 8\nnested = [[1, 2], [3]]\n+++\n",
      // Jekyll
      "---\nlayout: post\ntitle: 'Caches: nine of them'\ndate: 2026-05-31 10:00:00 +0200\n"
      "tags: caching, web performance\nexcerpt: On caches.\nauthor: Ilse\nread_time: 7.5\n---\n",
      // JSON
      "{\"title\": \"Caches: nine of them\", \"publishDate\": \"May 31, 2026\", \"tags\": "
      "[\"caching\", "
      "\"#web performance\"], \"description\": \"On caches.\", \"authors\": [{\"name\": "
      "\"Ilse\"}], "
      "\"readingTime\": {\"minutes\": 8}}\n",
  };
  for (std::string_view text : texts) {
    CAPTURE(text);
    Frontmatter meta = read(text);
    CHECK(meta.title == "Caches: nine of them");
    REQUIRE(meta.date.has_value());
    CHECK(iso_date(*meta.date) == "2026-05-31");
    if (text.find("[extra]") == std::string_view::npos) CHECK(meta.reading_minutes == 8);
    CHECK(meta.tags == List{"caching", "web-performance"});
    CHECK(meta.description == "On caches.");
    CHECK(meta.author == "Ilse");
    CHECK(meta.unpublished.empty());
    CHECK(meta.warnings == List{});
  }
}

TEST_CASE("drafts, dates, tags and other keys are understood in their variants") {
  for (std::string_view field : {"draft: true", "draft: True", "draft: YES", "published: false",
                                 "published: No", "status: Draft"}) {
    CAPTURE(field);
    CHECK(read("---\n" + std::string(field) + "\n---\n").unpublished == "draft");
  }
  CHECK(read("---\ndraft: false\npublished: true\n---\n").unpublished.empty());
  CHECK(read("---\npublished: 2024-02-03\n---\n").date == parse_date("2024-02-03"));
  CHECK(read("---\nlastmod: 2025-01-01\ndate: 2024-02-03\n---\n").date == parse_date("2024-02-03"));
  CHECK(read("---\ndate: Sun, 12 Apr 2026 10:00:00 GMT\n---\n").date == parse_date("2026-04-12"));
  CHECK(read("---\ndate: Sun Apr 12 2026\n---\n").date == parse_date("2026-04-12"));
  CHECK(read("---\ntags: one two\ncategories: [Two, three]\n---\n").tags ==
        List{"one", "two", "three"});
  CHECK(read("---\ntags:\n  - C++\n  - \"Node.js\"\n  - ''\n---\n").tags == List{"c++", "node.js"});
  CHECK(read("---\ntitle: |\n  two\n  lines\n---\n").title == "two lines");
  CHECK(read("---\ntitle: \"{{ replace .Name }}\"\n---\n").title.empty());
  CHECK(read("---\nslug: My/Slug\npermalink: /a/b/\n---\n").permalink == "/a/b/");
  CHECK(read("---\nreadingTime: soon\n---\n").reading_minutes == std::nullopt);
  CHECK(read("---\nauthors: [Ada, Bob]\n---\n").author == "Ada, Bob");
}

TEST_CASE("an unreadable date gives a warning, not an error") {
  Frontmatter meta = read("---\ntitle: x\ndate: 2024-13-45\n---\n");
  CHECK(meta.title == "x");
  CHECK_FALSE(meta.date.has_value());
  REQUIRE(meta.warnings.size() == 1);
  CHECK(meta.warnings[0] == "cannot read the date '2024-13-45'");
}

TEST_CASE("malformed frontmatter is read line by line with a warning") {
  struct {
    std::string_view text, title, warning;
  } cases[] = {
      {"---\ntitle: Nine: a story\ntags: [a, b]\n---\n", "Nine: a story", "line"},
      {"---\ntitle: \"unclosed\ntags: [a, b]\n---\n", "unclosed", "line"},
      {"---\ntags: [a, b]\ntitle: x\n\tbad: tab\n---\n", "x", "line"},
      {"---\ntitle: &anchor x\nother: *anchor\ntags: [a, b]\n---\n", "&anchor x", "anchors"},
      {"---\ntitle: x\ntags: [a, b]\ndeep: [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n---\n", "x",
       "16 levels"},
      {"+++\ntitle = \"x\"\ntags = [\"a\", \"b\"]\nbroken = \n+++\n", "x", "line:3"},
      {"+++\ntitle = \"x\"\ntags = [\"a\", \"b\"]\n[{\n+++\n", "x", "malformed"},
      {"+++\n# é\ntitle = \"x\"\ntags = [\"a\", \"b\"]\nother = élan\n+++\n", "x", "line:4"},
      {"---\ntitle: x\ntags: [a, b]\n\nAnd then prose: here.", "x", "no closing delimiter"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    Frontmatter meta = read(c.text);
    CHECK(meta.title == c.title);
    CHECK(meta.tags == List{"a", "b"});
    REQUIRE(!meta.warnings.empty());
    CHECK(meta.warnings[0].find(c.warning) != std::string::npos);
    CHECK(meta.warnings[0].find('\n') == std::string::npos);
  }
  CHECK(body("---\ntitle: x\n\nAnd then prose: here.") == "\nAnd then prose: here.");
}

TEST_CASE("hostile frontmatter does not exhaust time or memory") {
  std::string deep = "---\nx: " + std::string(30'000, '[') + "\n---\n";
  std::string maps = "---\nx: " + std::string(30'000, '{') + "\n---\n";
  std::string bomb = "---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\n";
  std::string large = "---\n" + std::string(70'000, 'x') + ": y\n---\nbody";
  std::string json = "{\"a\":" + std::string(30'000, '[') + std::string(30'000, ']') + "}";
  std::string keys = "---\n? [complex]\n: value\n? {a: b}\n: c\n---\n";
  for (const std::string& text : {deep, maps, bomb, large, json, keys}) {
    Frontmatter meta = read(text);
    CHECK(meta.title.empty());
  }
  CHECK(split_frontmatter(large).format == FrontmatterFormat::none);
  std::string many = "---\ntags:\n";
  for (int i = 0; i < 500; ++i) many += "  - tag" + std::to_string(i) + "\n";
  CHECK(read(many + "---\n").tags.size() == 32);
}

TEST_CASE("fields that hide a page from readers are recognised in every format") {
  struct {
    std::string_view yaml, toml, json,
        key;  // what the reason names; null: the page is public
  } cases[] = {
      {"is_secret: true", "is_secret = true", "\"is_secret\": true", "is_secret"},
      {"secret: Yes", "secret = \"Yes\"", "\"secret\": \"Yes\"", "secret"},
      {"private: on", "private = 1", "\"private\": 1", "private"},
      {"noindex: true", "noindex = true", "\"noIndex\": true", "no"},
      {"unlisted: true", "unlisted = true", "\"unlisted\": true", "unlisted"},
      {"password: hunter2", "password = \"hunter2\"", "\"password\": \"hunter2\"", "password"},
      {"robots: noindex", "robots = \"noindex\"", "\"robots\": \"noindex\"", "robots"},
      {"robots: \"NoIndex, nofollow\"", "robots = \"follow,noindex\"",
       "\"robots\": [\"noindex\", \"follow\"]", "robots"},
      {"robots: 'max-snippet: 20, none'", "robots = \"max-image-preview: none, noindex\"",
       "\"robots\": \"none,max-snippet:20\"", "robots"},
      {"robots: none", "robots = \"none\"", "\"robots\": \"none\"", "robots"},
      {"robots: {index: false}", "[robots]\nnoindex = true", "\"robots\": {\"index\": false}",
       "robots."},
      {"robotsNoIndex: true", "[params]\nrobotsNoIndex = true", "\"robotsNoIndex\": true",
       "robotsNoIndex"},
      {"sitemap: false", "sitemap = false", "\"sitemap\": false", "sitemap"},
      {"sitemap:\n  disable: true", "[sitemap]\ndisable = true", "\"sitemap\": {\"disable\": true}",
       "sitemap.disable"},
      {"_build: {list: never}", "[_build]\nlist = \"never\"", "\"_build\": {\"list\": \"never\"}",
       "_build.list"},
      {"build:\n  render: never", "[build]\nrender = \"never\"", "\"build\": {\"list\": false}",
       "build."},
      {"metadata: {is_secret: true}", "[extra]\nprivate = true", "\"seo\": {\"noindex\": true}",
       "."},
      {"visibility: private", "visibility = \"unlisted\"", "\"status\": \"private\"", ""},
      {"publish: false", "publish = false", "\"publish\": false", "publish"},
      // These leave the page public.
      {"secret: false", "secret = false", "\"secret\": false", {}},
      {"private: No", "private = \"no\"", "\"private\": 0", {}},
      {"noindex:", "noindex = \"\"", "\"noindex\": null", {}},
      {"password: ''", "password = \"\"", "\"password\": \"\"", {}},
      {"is_secret: ~", "is_secret = \"off\"", "\"is_secret\": \"none\"", {}},
      {"robots: index, follow", "robots = \"all\"", "\"robots\": \"nosnippet\"", {}},
      {"robots: 'index, max-image-preview: none'",
       "robots = \"max-image-preview:none\"",
       "\"robots\": [\"index\", \"max-image-preview : none\"]",
       {}},
      {"sitemap: {priority: 0.5}", "[sitemap]\ndisable = false", "\"sitemap\": true", {}},
      {"_build: {list: always}",
       "[build]\nrender = \"link\"",
       "\"build\": {\"list\": \"local\"}",
       {}},
      {"secrets: 4", "privately = true", "\"passwords\": \"a\"", {}},
      {"visibility: public", "status = \"active\"", "\"visibility\": \"\"", {}},
  };
  for (const auto& c : cases) {
    const std::string pages[] = {"---\ntitle: T\n" + std::string(c.yaml) + "\n---\n",
                                 "+++\ntitle = \"T\"\n" + std::string(c.toml) + "\n+++\n",
                                 "{\"title\": \"T\", " + std::string(c.json) + "}\n"};
    for (const std::string& page : pages) {
      CAPTURE(page);
      const std::string reason = read(page).unpublished;
      CHECK(reason.empty() == (c.key.data() == nullptr));
      CHECK(reason.find(c.key) != std::string::npos);
      CHECK(reason.find("hunter2") == std::string::npos);
    }
  }
  CHECK(read("---\nis_secret: true\n---\n").unpublished ==
        "its field 'is_secret' keeps it from readers");
}

TEST_CASE("malformed frontmatter can still hide its page from readers") {
  for (std::string_view page :
       {"---\ntitle: \"T\nprivate: true\n---\n",
        "---\na: &x 1\nmetadata:\n  is_secret: true\n---\n",
        "+++\ntitle = T\nnoindex = true\n+++\n", "+++\ntitle = T\n[extra]\nsecret = true\n+++\n"}) {
    CAPTURE(page);
    CHECK_FALSE(read(page).unpublished.empty());
  }
}

}  // namespace frontmatter_test
