#include "ingest/walk.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp_folder.h"

namespace walk_test {

using namespace stoka;
using namespace stoka::ingest;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> names(const WalkResult& walk) {
  std::vector<std::string> out;
  for (const SourceFile& file : walk.files) out.push_back(display_path(file.relative));
  return out;
}

WalkResult walk_one(const fs::path& path) {
  auto found = walk(std::vector<fs::path>{path});
  REQUIRE(found.has_value());
  return *found;
}

using List = std::vector<std::string>;

}  // namespace

TEST_CASE("a walk finds sources in order and skips other files") {
  testing::TempFolder tree;
  for (std::string name :
       {"b.md", "a/z.markdown", "a/y.MDX", "a/products.json", "a/other.json", "a/corpus.jsonl",
        "x.txt", ".git/c.md", ".hidden.md", "node_modules/d.md", "dir.md/e.md", "themes/t.md"})
    tree.write(name, "text");
  WalkResult found = walk_one(tree.path);
  CHECK(names(found) ==
        List{"a/products.json", "a/y.MDX", "a/z.markdown", "b.md", "dir.md/e.md", "themes/t.md"});
  List unsupported;
  for (const SkippedSource& skipped : found.skipped) {
    CHECK(skipped.kind == SkipKind::unsupported);
    unsupported.push_back(fs::path(skipped.path).filename().string() + ": " + skipped.reason);
  }
  CHECK(unsupported == List{"corpus.jsonl: JSON data of the site; give the file itself to index it",
                            "other.json: JSON data of the site; give the file itself to index it",
                            "x.txt: " + unsupported_in_folder_reason("x.txt")});
  CHECK(found.files[0].root == tree.path.filename().string());
}

TEST_CASE("files that site generators do not publish are skipped unless given themselves") {
  testing::TempFolder tree;
  for (std::string name : {"_index.md", "_index.fr.md", "_posts/a.md", "_drafts/b.md",
                           "_partial.md", "x/_drafts/deep/c.md"})
    tree.write(name, "text");
  WalkResult found = walk_one(tree.path);
  CHECK(names(found) == List{"_index.fr.md", "_index.md", "_posts/a.md"});
  REQUIRE(found.skipped.size() == 3);
  CHECK(found.skipped[0].path == (tree.path / "_drafts").string());
  CHECK(found.skipped[0].reason == kDraftReason);
  CHECK(found.skipped[1].path == (tree.path / "_partial.md").string());
  CHECK(found.skipped[1].reason == "starts with _, which site generators do not publish");
  CHECK(found.skipped[2].path == (tree.path / "x" / "_drafts").string());

  CHECK(names(walk_one(tree.path / "_drafts")) == List{"b.md"});
  auto named = walk(std::vector<fs::path>{tree.path, tree.path / "_partial.md",
                                          tree.path / "_drafts" / "b.md", tree.path});
  REQUIRE(named.has_value());
  CHECK(named->files.size() == 5);
  REQUIRE(named->skipped.size() == 1);
  CHECK(named->skipped[0].path == (tree.path / "x" / "_drafts").string());
}

TEST_CASE("relative paths begin at the folder of the site, whichever of its folders is given") {
  struct {
    std::string config, page, relative;
  } cases[] = {
      {"hugo.toml", "content/docs/guide/a.md", "content/docs/guide/a.md"},
      {"config.toml", "content/docs/guide/a.md", "content/docs/guide/a.md"},
      {"_config.yml", "docs/guide/a.md", "docs/guide/a.md"},
      {"astro.config.mjs", "src/content/docs/guide/a.md", "src/content/docs/guide/a.md"},
      {"unknown.toml", "content/docs/guide/a.md", ""},
      {"content/config.toml", "content/docs/guide/a.md", ""},
  };
  for (const auto& c : cases) {
    CAPTURE(c.config);
    testing::TempFolder tree;
    tree.write("blog/" + c.config, "");
    const fs::path page = tree.write("blog/" + c.page, "x");
    const fs::path site = tree.path / "blog";
    for (fs::path named = page; named != site.parent_path(); named = named.parent_path()) {
      CAPTURE(named.string());
      const WalkResult found = walk_one(named);
      REQUIRE(found.files.size() == 1);
      if (!c.relative.empty()) {
        CHECK(display_path(found.files[0].relative) == c.relative);
        CHECK(found.files[0].root == "");
      } else {
        CHECK(found.files[0].relative ==
              (named == page ? page.filename() : page.lexically_relative(named)));
      }
    }
  }
}

TEST_CASE("a file may be given itself, even twice") {
  testing::TempFolder tree;
  fs::path page = tree.write("site/a.md", "x"), json = tree.write("site/list.json", "[]"),
           corpus = tree.write("site/corpus.jsonl", "{}"), old = tree.write("site/OLD.NDJSON", ""),
           other = tree.write("site/c.txt", "x");
  auto found = walk(std::vector<fs::path>{page, tree.path / "site", page, json, corpus, old, other,
                                          tree.path / "site" / "."});
  REQUIRE(found.has_value());
  CHECK(names(*found) == List{"OLD.NDJSON", "a.md", "corpus.jsonl", "list.json"});
  REQUIRE(found->skipped.size() == 1);
  CHECK(found->skipped[0].reason == unsupported_reason());
  CHECK(found->files[0].root == "site");
}

TEST_CASE("a path that does not exist gives a data error") {
  auto found = walk(std::vector<fs::path>{"/nowhere/at/all"});
  REQUIRE_FALSE(found.has_value());
  CHECK(found.error().kind == ErrorKind::data);
  CHECK(found.error().message == "/nowhere/at/all does not exist");
}

TEST_CASE("symbolic links neither loop nor lead out of the tree") {
  testing::TempFolder tree, outside;
  fs::path secret = outside.write("secret.md", "x");
  tree.write("a/real.md", "x");
  fs::create_directory_symlink(tree.path, tree.path / "a" / "loop");
  fs::create_directory_symlink(outside.path, tree.path / "out");
  fs::create_symlink(secret, tree.path / "leak.md");
  fs::create_symlink(tree.path / "a" / "real.md", tree.path / "same.md");
  fs::create_symlink("nothing", tree.path / "dangling.md");
  fs::create_symlink("self.md", tree.path / "self.md");
  WalkResult found = walk_one(tree.path);
  CHECK(found.files.size() == 1);
  std::vector<std::string> reasons;
  for (const SkippedSource& skipped : found.skipped)
    reasons.push_back(fs::path(skipped.path).filename().string() + ": " +
                      skipped.reason.substr(0, skipped.reason.find(" as ")));
  std::sort(reasons.begin(), reasons.end());
  CHECK(reasons == List{"dangling.md: a symbolic link without a target",
                        "leak.md: a symbolic link out of the tree",
                        "loop: a symbolic link to a folder; give the folder itself to index it",
                        "out: a symbolic link to a folder; give the folder itself to index it",
                        "real.md: the same file", "self.md: a symbolic link without a target"});
}

TEST_CASE("pipes and unreadable folders are skipped with a reason") {
  testing::TempFolder tree;
  tree.write("a.md", "x");
  ::mkfifo((tree.path / "pipe.md").c_str(), 0600);
  tree.write("closed/b.md", "x");
  bool root = ::geteuid() == 0;
  if (!root) fs::permissions(tree.path / "closed", fs::perms::none);
  WalkResult found = walk_one(tree.path);
  CHECK(found.skipped.size() == (root ? 1 : 2));
  CHECK(found.skipped.back().reason == "not a regular file");
  fs::permissions(tree.path / "closed", fs::perms::owner_all);
}

TEST_CASE("a file name that is not UTF-8 can be displayed") {
  testing::TempFolder tree;
  tree.write("bad\xFF.md", "x");
  WalkResult found = walk_one(tree.path);
  REQUIRE(found.files.size() == 1);
  CHECK(display_path(found.files[0].relative) == "bad\uFFFD.md");
  CHECK(display_path("a\x1B[31m\u202E.md") == "a\uFFFD[31m\uFFFD.md");
}

}  // namespace walk_test
