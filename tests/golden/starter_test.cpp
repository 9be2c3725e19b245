#include "golden/starter.h"

#include <doctest/doctest.h>

#include <set>

#include "base/embedded.h"
#include "base/files.h"
#include "golden/directory.h"
#include "support/temp_folder.h"

namespace starter_test {

using namespace stoka;

namespace {

const std::vector<golden::GoldenExchange> kDrafts = {
    {"tell me about tern", "it's written down.\n<cite slug=\"tern\" quote=\"Tern ships.\"/>\nwhy?"},
    {"owls?", "<cite slug=\"owls\" quote=\"Owls wait.\"/>"}};

}  // namespace

TEST_CASE("the starter has every file, and loads as the built-in golden data") {
  testing::TempFolder folder;
  const auto directory = folder.path / "made/golden";
  const auto files = golden::write_starter(directory, {});
  REQUIRE_MESSAGE(files, files.error().message);
  CHECK(files->size() == embedded::golden().size());
  const auto written = golden::load_directory(directory);
  REQUIRE_MESSAGE(written, written.error().message);
  const golden::Golden built_in = golden::load().value();
  CHECK(written->identity == built_in.identity);
  CHECK(written->never == built_in.never);
  CHECK(written->voice == built_in.voice);
  CHECK(written->exchanges == built_in.exchanges);
  CHECK(written->replies == built_in.replies);
}

TEST_CASE("every file of the starter begins with a comment") {
  testing::TempFolder folder;
  const auto files = golden::write_starter(folder.path, kDrafts);
  REQUIRE_MESSAGE(files, files.error().message);
  for (const std::string& file : *files) {
    CAPTURE(file);
    CHECK(read_file(folder.path / file, 1 << 20)->starts_with("# "));
  }
}

TEST_CASE("drafted examples replace those that cite pages of another site") {
  testing::TempFolder folder;
  REQUIRE(golden::write_starter(folder.path, kDrafts));
  const auto written = golden::load_directory(folder.path);
  REQUIRE_MESSAGE(written, written.error().message);
  std::set<std::string> slugs;
  for (const golden::GoldenExchange& exchange : written->exchange_list)
    slugs.insert(exchange.slugs.begin(), exchange.slugs.end());
  CHECK(slugs == std::set<std::string>{"owls", "tern"});
  CHECK(written->exchange_list.front().visitor == "tell me about tern");
  CHECK(written->exchange_list.front().stoka == kDrafts.front().stoka);
  CHECK(written->exchanges.find("visitor: what is this?") != std::string::npos);
}

TEST_CASE("a golden file that exists is not overwritten, and nothing else is written") {
  testing::TempFolder folder;
  folder.write("voice.txt", "Mine.\n");
  const auto files = golden::write_starter(folder.path, {});
  REQUIRE(!files);
  CHECK(files.error().kind == ErrorKind::usage);
  CHECK(files.error().message == (folder.path / "voice.txt").string() + " exists already");
  CHECK(read_file(folder.path / "voice.txt", 100).value() == "Mine.\n");
  CHECK_FALSE(std::filesystem::exists(folder.path / "identity.txt"));
}

TEST_CASE("a path that is a file is an error") {
  testing::TempFolder folder;
  const auto file = folder.write("file", "x");
  CHECK(golden::write_starter(file, {}).error().kind == ErrorKind::data);
}

}  // namespace starter_test
