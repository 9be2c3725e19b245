#include "ingest/loader.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <map>
#include <set>

#include "ingest/chunker.h"
#include "support/temp_folder.h"
#include "text/utf8.h"

namespace loader_test {

using namespace stoka;
using namespace stoka::ingest;
namespace fs = std::filesystem;

namespace {

// The result of loading a whole tree.
struct Site {
  std::map<std::string, Page> pages;
  std::map<std::string, std::string> skipped;
  std::string warnings;
};

Site read_tree(const testing::TempFolder& tree) {
  auto found = walk(std::vector<fs::path>{tree.path});
  REQUIRE(found.has_value());
  std::vector<Page> pages;
  std::vector<std::string> names;
  Site out;
  auto relative = [&](const std::string& path) {
    return path.substr(std::min(path.size(), tree.path.string().size() + 1));
  };
  for (const SkippedSource& skipped : found->skipped)
    out.skipped[relative(skipped.path)] = skipped.reason;
  for (const SourceFile& file : found->files) {
    LoadedFile loaded = load(file, ChunkOptions{}.describe());
    CHECK(loaded.pages.size() + loaded.skipped.size() > 0);
    for (Page& page : loaded.pages) pages.push_back(std::move(page));
    for (const SkippedSource& skipped : loaded.skipped)
      out.skipped[relative(skipped.path)] = skipped.reason;
    for (const std::string& warning : loaded.warnings) out.warnings += relative(warning) + "\n";
  }
  assign_slugs(pages);
  std::set<std::string> slugs;
  for (Page& page : pages) {
    CHECK(!page.document.title.empty());
    CHECK(text::is_valid_utf8(page.document.title));
    CHECK(slugs.insert(page.document.slug).second);
    std::string key = relative(page.document.path);
    if (out.pages.contains(key)) key += "#" + page.document.slug;
    out.pages[key] = std::move(page);
  }
  return out;
}

LoadedFile load_text(std::string_view text, std::string relative = "blog/a.md") {
  return load_bytes({"site/" + relative, relative, "site"}, text, "v1");
}

std::string text_of(const Page& page) {
  std::string out;
  for (const Block& block : page.blocks) out += block.text + "\n";
  return out;
}

}  // namespace

TEST_CASE("a Hugo site is loaded") {
  testing::TempFolder tree;
  tree.write("content/_index.md", "---\ntitle: Home page\n---\n");
  tree.write("content/posts/_index.md", "+++\ntitle = \"All posts\"\n+++\n");
  tree.write("content/posts/first/index.md",
             "+++\ntitle = \"First\"\ndate = 2024-02-03T10:00:00Z\ntags = "
             "[\"Go\"]\n[[resources]]\nsrc = \"x\"\n+++\n"
             "Opening.\n\n<!--more-->\n\n{{< figure src=\"x.png\" >}}\n\n## Part\n\n```go\n## not "
             "a heading {{ x }}\n```\n");
  tree.write("content/posts/first/index.fr.md", "+++\ntitle = \"Premier\"\n+++\nDébut.\n");
  tree.write("content/posts/draft.md", "+++\ntitle = \"Later\"\ndraft = true\n+++\ntext\n");
  Site site = read_tree(tree);
  CHECK(site.pages.size() == 4);
  CHECK(site.pages["content/_index.md"].document.slug == "home");
  CHECK(site.pages["content/_index.md"].document.url == "/");
  CHECK(site.pages["content/posts/_index.md"].document.slug == "posts");
  const Page& first = site.pages["content/posts/first/index.md"];
  CHECK(first.document.slug == "first");
  CHECK(first.document.url == "/posts/first");
  CHECK(first.document.type == "blog");
  CHECK(first.document.tags == std::vector<std::string>{"go"});
  CHECK(text_of(first) == "Opening.\nPart\n## not a heading {{ x }}\n");
  CHECK(site.pages["content/posts/first/index.fr.md"].document.slug == "first-fr");
  CHECK(site.skipped["content/posts/draft.md"] == "draft");
}

TEST_CASE("a code block marked secret is left out wherever it is in the page") {
  for (std::string_view fence :
       {"```env secret\nTOKEN=x\n```", "~~~ {secret}\nTOKEN=x\n~~~",
        "- item\n\n  ```env secret=true\n  TOKEN=x\n  ```", "- ```env secret\n  TOKEN=x\n  ```",
        "> ```secret\n> TOKEN=x\n> ```",
        "{{< highlight env \"secret\" >}}\nTOKEN=x\n{{< /highlight >}}",
        "{% highlight env secret %}\nTOKEN=x\n{% endhighlight %}", "```env secret\nTOKEN=x"}) {
    CAPTURE(fence);
    const LoadedFile out =
        load_bytes({"a.md", "a.md", "site"}, "# A\n\nOpen.\n\n" + std::string(fence) + "\n", "v1");
    REQUIRE(out.pages.size() == 1);
    CHECK(text_of(out.pages[0]).find("TOKEN") == std::string::npos);
    REQUIRE(out.left_out.size() == 1);
    CHECK(out.left_out[0].reason == "a code block was left out: it is marked secret");
  }
  const LoadedFile whole =
      load_bytes({"a.md", "a.md", "site"}, "```env secret\nTOKEN=x\n```", "v1");
  REQUIRE(whole.skipped.size() == 1);
  CHECK(whole.skipped[0].kind == SkipKind::unpublished);
  CHECK(whole.skipped[0].reason == "all of its text is marked secret");
  const LoadedFile open =
      load_bytes({"a.md", "a.md", "site"}, "```env secret=false\nTOKEN=x\n```", "v1");
  CHECK(text_of(open.pages.at(0)) == "TOKEN=x\n");
}

TEST_CASE("a Jekyll site is loaded") {
  testing::TempFolder tree;
  tree.write("_posts/2023-05-06-why-v2.1-matters.md",
             "---\nlayout: post\ntitle: Why: a story\ncategories: ops tools\n---\nSee {% post_url "
             "x %} and {{ site.url }}.\n\n"
             "{% highlight sh %}\nls {{x}}\n{% endhighlight %}\n");
  tree.write("_posts/2023-05-07-no-front-matter.markdown", "A Heading\n=========\n\nText.\n");
  tree.write("about.md",
             "---\npermalink: /about-us/\n---\n<div class=\"x\">\n<p>Who we are.</p>\n</div>\n");
  Site site = read_tree(tree);
  const Page& why = site.pages["_posts/2023-05-06-why-v2.1-matters.md"];
  CHECK(why.document.title == "Why: a story");
  CHECK(why.document.slug == "why-v2-1-matters");
  CHECK(why.document.date == parse_date("2023-05-06"));
  CHECK(why.document.tags == std::vector<std::string>{"ops", "tools"});
  CHECK(text_of(why) == "See and .\nls {{x}}\n");
  CHECK(
      site.warnings.find("_posts/2023-05-06-why-v2.1-matters.md: frontmatter read line by line") !=
      std::string::npos);
  CHECK(site.pages["_posts/2023-05-07-no-front-matter.markdown"].document.title == "A Heading");
  CHECK(site.pages["about.md"].document.slug == "about-us");
  CHECK(site.pages["about.md"].document.url == "/about-us/");
  CHECK(site.pages["about.md"].document.title == "About");
  CHECK(text_of(site.pages["about.md"]) == "Who we are.\n");
}

TEST_CASE("a Zola site and an Astro site are loaded") {
  testing::TempFolder tree;
  tree.write("content/blog/post.md",
             "+++\ntitle = \"P\"\ndate = 2024-01-02\npath = \"writing/p-one\"\n[taxonomies]\ntags "
             "= [\"a\"]\n+++\nText.\n");
  tree.write("src/content/blog/island.mdx",
             "---\ntitle: Islands\npubDate: 'Jul 08 2022'\n---\nimport X from '../x.astro'\n\n<X "
             "client:load data={{a: 1}}>\n\n"
             "Inner text.\n\n</X>\n");
  tree.write("src/content/blog/philosophy-of-x.md", "# Philosophy\n\nText.\n");
  tree.write("src/content/patch-notes/one.md", "Changed.\n");
  tree.write("src/data/products.json",
             "[{\"slug\": \"p\", \"name\": \"P\"}, {\"slug\": \"q\", \"name\": \"Q\"}]");
  Site site = read_tree(tree);
  CHECK(site.pages["content/blog/post.md"].document.slug == "p-one");
  CHECK(site.pages["content/blog/post.md"].document.url == "/writing/p-one");
  CHECK(text_of(site.pages["src/content/blog/island.mdx"]) == "Inner text.\n");
  CHECK(site.pages["src/content/blog/island.mdx"].document.url == "/blog/island");
  CHECK(site.pages["src/content/blog/philosophy-of-x.md"].document.type == "philosophy");
  CHECK(site.pages["src/content/patch-notes/one.md"].document.type == "changelog");
  CHECK(site.pages["src/data/products.json#q"].document.type == "product");
  CHECK(site.pages.size() == 6);
}

TEST_CASE("equal file names in two folders get different slugs, and slugs may be in any script") {
  testing::TempFolder tree;
  tree.write("blog/a.md", "x");
  tree.write("notes/a.md", "x");
  tree.write("notes/b.md", "---\nslug: a\n---\nx");
  tree.write("数据库.md", "---\ntitle: 数据库\n---\n索引是什么？\n");
  tree.write("!!!.md", "x");
  Site site = read_tree(tree);
  CHECK(site.pages["blog/a.md"].document.slug == "blog-a");
  CHECK(site.pages["blog/a.md"].document.url == "/blog/a");
  CHECK(site.pages["notes/a.md"].document.slug == "notes-a");
  CHECK(site.pages["notes/b.md"].document.slug == "a");
  CHECK(site.pages["数据库.md"].document.slug == "数据库");
  CHECK(site.pages["!!!.md"].document.slug == "page");
}

TEST_CASE("damaged files are repaired with a warning or skipped with a reason") {
  testing::TempFolder tree;
  tree.write("bom.md", "\xEF\xBB\xBF---\r\ntitle: Windows\r\n---\r\nText.\r\n");
  tree.write("latin.md",
             "# Caf\xE9\n\nA caf\xE9 in the text, and more words to make it long enough.\n");
  tree.write("torn.md", "# Caf\xE9 é\n\nMore words to make it long enough to be text.\n");
  tree.write("nul.md", std::string("# Nul\n\nA") + '\0' + std::string(300, 'x'));
  tree.write("utf16.md", std::string("\xFF\xFE#\0 \0T\0\n\0", 10));
  tree.write("binary.md", std::string(200, '\0') + "PNG");
  tree.write("noise.md", std::string(200, '\xFF'));
  tree.write("empty.md", "");
  tree.write("blank.md", " \n\n");
  tree.write("comment.md", "---\ntags: [a]\n---\n<!-- nothing -->\n");
  tree.write("title-only.md", "---\ntitle: T\n---\n");
  tree.write("unclosed.md", "---\ntitle: U\n\nText of it.\n");
  tree.write("folder.md/inner.md", "x");
  fs::resize_file(tree.write("large.md", "x"), 17 << 20);
  fs::permissions(tree.write("closed.md", "x"), fs::perms::none);
  Site site = read_tree(tree);
  CHECK(site.pages["bom.md"].document.title == "Windows");
  CHECK(site.pages["latin.md"].document.title == "Café");
  CHECK(site.pages["torn.md"].document.title == "Caf\uFFFD é");
  CHECK(site.pages["utf16.md"].document.title == "T");
  CHECK(site.pages["title-only.md"].document.title == "T");
  CHECK(site.pages["unclosed.md"].document.title == "U");
  CHECK(text_of(site.pages["unclosed.md"]) == "Text of it.\n");
  CHECK(site.warnings.find("torn.md: 1 invalid UTF-8 sequences replaced") != std::string::npos);
  CHECK(site.warnings.find("latin.md: converted from Windows-1252") != std::string::npos);
  CHECK(site.warnings.find("nul.md: 1 NUL bytes removed") != std::string::npos);
  CHECK(site.warnings.find("utf16.md: converted from UTF-16") != std::string::npos);
  CHECK(site.warnings.find("unclosed.md: frontmatter has no closing delimiter") !=
        std::string::npos);
  CHECK(site.skipped["binary.md"] == "binary, not text");
  CHECK(site.skipped["noise.md"] == "binary, not text");
  CHECK(site.skipped["empty.md"] == "empty");
  CHECK(site.skipped["blank.md"] == "empty");
  CHECK(site.skipped["comment.md"] == "empty");
  CHECK(site.skipped["large.md"] == "larger than 16 MB");
  if (::geteuid() != 0) CHECK(site.skipped["closed.md"].find("cannot read") != std::string::npos);
  CHECK(site.pages.contains("folder.md/inner.md"));
}

TEST_CASE("control characters are removed from pages, even if written as references or escapes") {
  const LoadedFile out = load_text(
      "---\ntitle: \"a\\e[2J \\u202Eb\"\ntags: [\"x\\e\"]\ndescription: d\x1B[1m\n---\n"
      "One \x1B[31mred\x07 &#27;[0m &#x202e;two\u2066 \u009B"
      "3.\n\n```\n\x1B]0;t\x07\n```\n\n&#27;\n");
  REQUIRE(out.pages.size() == 1);
  const Page& page = out.pages[0];
  CHECK(page.document.title == "a [2J b");
  CHECK(page.document.tags == std::vector<std::string>{"x"});
  CHECK(page.document.description == "d[1m");
  CHECK(text_of(page) == "One [31mred [0m two 3.\n]0;t\n");
  REQUIRE(out.warnings.size() == 1);
  CHECK(out.warnings[0].find("control characters removed") != std::string::npos);

  const LoadedFile products = load_bytes(
      {"site/products.json", "products.json", "site"},
      R"([{"slug": "p", "name": "P\u001b[1m\u202e", "description": "A\u009bb."}])", "v1");
  REQUIRE(products.pages.size() == 1);
  CHECK(products.pages[0].document.title == "P [1m");
  CHECK(text_of(products.pages[0]).find("Ab.") != std::string::npos);
}

TEST_CASE("U+0085 and vertical tab inside a JSON string become spaces") {
  const std::string line = "{\"id\": \"a\", \"title\": \"Two\xC2\x85words\x0B here\"}";
  for (const auto& [name, text] : std::initializer_list<std::pair<std::string, std::string>>{
           {"x.json", "[" + line + "]"}, {"x.jsonl", line}}) {
    const LoadedFile out = load_bytes({name, name, "site"}, text, "v1");
    REQUIRE(out.pages.size() == 1);
    CHECK(out.pages[0].document.title == "Two words here");
  }
}

TEST_CASE("a corpus has a larger size limit than other files") {
  testing::TempFolder tree;
  const fs::path corpus = tree.path / "corpus.jsonl";
  const std::string line = R"({"id": "a", "title": "A", "text": ")" + std::string(9 << 20, 'x');
  tree.write("corpus.jsonl", line + "\"}\n" + line + "\"}\n");
  const SourceFile file = {corpus, "corpus.jsonl", "x"};
  CHECK(load(file, "v1").pages.size() == 2);
  fs::resize_file(corpus, (512ULL << 20) + 1);
  const LoadedFile out = load(file, "v1");
  CHECK(out.pages.empty());
  REQUIRE(out.skipped.size() == 1);
  CHECK(out.skipped[0].reason == "larger than 512 MB");
}

TEST_CASE("a missing title or reading time is derived from the text") {
  CHECK(load_text("text").pages[0].document.title == "A");
  CHECK(load_text("text\n\n## Second level\n").pages[0].document.title == "Second level");
  std::string words;
  for (int i = 0; i < 441; ++i) words += "word ";
  CHECK(load_text(words).pages[0].document.reading_minutes == 3);
  CHECK(load_text("one").pages[0].document.reading_minutes == 1);
  CHECK(load_text("---\nreadingTime: 8 min\n---\none").pages[0].document.reading_minutes == 8);
}

TEST_CASE("the content hash depends on the bytes, the chunk options and the path") {
  auto hash = [](std::string_view text, std::string relative, std::string_view chunk_options) {
    return load_bytes({"x.md", relative, "site"}, text, chunk_options)
        .pages.at(0)
        .document.content_hash;
  };
  std::string base = hash("text", "blog/a.md", "v1");
  CHECK(base == hash("text", "blog/a.md", "v1"));
  CHECK(base != hash("text!", "blog/a.md", "v1"));
  CHECK(base != hash("text", "blog/a.md", "v2"));
  CHECK(base != hash("text", "notes/a.md", "v1"));
}

TEST_CASE("a page of 300 KB is read and chunked completely") {
  std::string page = "# Large\n\n";
  for (int i = 0; page.size() < 300'000; ++i) {
    page += "## Section " + std::to_string(i) + "\n\n";
    for (int j = 0; j < 12; ++j)
      page += "A sentence with *some* words and [a link](http://x/" + std::to_string(j) + "). ";
    page +=
        "\n\n- item one\n- item two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n## code\n```\n\n";
  }
  LoadedFile out = load_text(page);
  REQUIRE(out.pages.size() == 1);
  CHECK(out.warnings.empty());
  auto chunks = chunk(out.pages[0].document, out.pages[0].blocks, {});
  CHECK(chunks.size() > 300);
}

TEST_CASE("the sample site is read without warnings") {
  auto found = walk(std::vector<fs::path>{fs::path(STOKA_SOURCE_DIR) / "evals" / "site"});
  REQUIRE(found.has_value());
  CHECK(found->files.size() > 10);
  for (const SourceFile& file : found->files) {
    LoadedFile loaded = load(file, "v1");
    CAPTURE(file.path.string());
    CHECK(loaded.warnings.empty());
    for (const Page& page : loaded.pages) {
      CHECK(!page.document.slug.empty());
      CHECK(!chunk(page.document, page.blocks, {}).empty());
    }
  }
}

}  // namespace loader_test
