#include "golden/directory.h"

#include <doctest/doctest.h>

#include "support/temp_folder.h"

namespace directory_test {

using namespace stoka;

namespace {

const char* const kIdentity = "You are the site of Ada.\n";

}  // namespace

TEST_CASE("a file of the golden directory replaces the built-in one") {
  testing::TempFolder folder;
  folder.write("identity.txt", kIdentity);
  const auto golden = golden::load_directory(folder.path);
  REQUIRE_MESSAGE(golden, golden.error().message);
  CHECK(golden->identity == "You are the site of Ada.");
  CHECK(golden->never.size() == 15);
}

TEST_CASE("the error for a misnamed golden file suggests the closest name") {
  for (auto [name, nearest] : std::initializer_list<std::pair<const char*, const char*>>{
           {"replies.tml", ", did you mean 'replies.toml'?"},
           {"Replies.toml", ", did you mean 'replies.toml'?"},
           {"hint.toml", ", did you mean 'hints.toml'?"},
           {"identity.md", ", did you mean 'identity.txt'?"},
           {"voice_line.toml", ", did you mean 'voice_lines.toml'?"},
           {"package.json", ""}}) {
    CAPTURE(std::string(name));
    testing::TempFolder folder;
    folder.write("identity.txt", kIdentity);
    const std::string path = folder.write(name, "x").string();
    const auto golden = golden::load_directory(folder.path);
    REQUIRE(!golden);
    CHECK(golden.error().kind == ErrorKind::config);
    CHECK(golden.error().message == path + ": no golden file has that name" + nearest);
    CHECK(golden.error().hint.find("voice_lines.toml") != std::string::npos);
  }
}

TEST_CASE("backup files, hidden files and subdirectories of a golden directory are ignored") {
  testing::TempFolder folder;
  folder.write("identity.txt", kIdentity);
  for (const char* name :
       {"replies.toml~", ".replies.toml.swp", "replies.toml.swp", "#replies.toml#", ".DS_Store",
        "README.md", "README", "LICENSE", "CHANGELOG.md", "replies.toml.bak", "replies.toml.orig",
        "replies.toml.rej", "replies.toml.tmp", ".git/config", "old/replies.tml"})
    folder.write(name, "not = golden");
  const auto golden = golden::load_directory(folder.path);
  REQUIRE_MESSAGE(golden, golden.error().message);
  CHECK(golden->identity == "You are the site of Ada.");
}

TEST_CASE("a path that is not a golden directory is refused") {
  testing::TempFolder folder;
  const std::string file = folder.write("file", "x").string();
  folder.write("site/golden/identity.txt", kIdentity);
  for (const auto& [path, what] : std::initializer_list<std::pair<std::string, const char*>>{
           {file + "-not", " does not exist"},
           {file, " is not a directory"},
           {(folder / "site").string(), " holds no golden file"}}) {
    CAPTURE(path);
    const auto golden = golden::load_directory(path, "name another one");
    REQUIRE(!golden);
    CHECK(golden.error().kind == ErrorKind::config);
    CHECK(golden.error().message == "golden directory " + path + what);
    CHECK(golden.error().hint == "name another one");
  }
}

TEST_CASE("a golden file that cannot be read gives an error") {
  testing::TempFolder folder;
  std::filesystem::create_symlink("nowhere", folder / "replies.toml");
  CHECK(golden::load_directory(folder.path).error().message.find("replies.toml") !=
        std::string::npos);
  testing::TempFolder another;
  std::filesystem::create_directory(another / "replies.toml");
  CHECK(golden::load_directory(another.path).error().message.find("replies.toml") !=
        std::string::npos);
}

}  // namespace directory_test
