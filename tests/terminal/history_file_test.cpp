#include "terminal/history_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "support/temp_folder.h"

namespace stoka::terminal::history_file_test {
namespace {

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

using Entries = std::vector<std::string>;

TEST_CASE("load() returns the entries in order, and the file is private") {
  const testing::TempFolder directory;
  const HistoryFile file(directory / "state/stoka/history");
  const mode_t before = ::umask(0);
  CHECK(file.load().value() == Entries{});
  REQUIRE(file.append("first"));
  REQUIRE(file.append("zweite Frage, 日本語"));
  ::umask(before);
  CHECK(file.load().value() == Entries{"first", "zweite Frage, 日本語"});
  CHECK(mode_of(directory / "state/stoka/history") == 0600);
}

TEST_CASE("append() reduces an entry to one line and ignores empty or very long ones") {
  const testing::TempFolder directory;
  const HistoryFile file(directory / "history");
  REQUIRE(file.append("two\nlines\x1b[2J"));
  REQUIRE(file.append(" \n "));
  REQUIRE(file.append(std::string(HistoryFile::kMaxEntryBytes + 1, 'x')));
  CHECK(file.load().value() == Entries{"two lines [2J"});
}

TEST_CASE("load() removes the permissions of other users") {
  const testing::TempFolder directory;
  const auto path = directory / "history";
  std::ofstream(path) << "old\n";
  ::chmod(path.c_str(), 0644);
  CHECK(HistoryFile(path).load().value() == Entries{"old"});
  CHECK(mode_of(path) == 0600);
}

TEST_CASE("load() shortens a long file to the newest entries") {
  const testing::TempFolder directory;
  const auto path = directory / "history";
  {
    std::ofstream out(path);
    for (size_t i = 0; i < 2 * HistoryFile::kMaxEntries; ++i) out << "q" << i << '\n';
  }
  const auto size = std::filesystem::file_size(path);
  const Entries entries = HistoryFile(path).load().value();
  CHECK(entries.size() == HistoryFile::kMaxEntries);
  CHECK(entries.back() == "q1999");
  CHECK(std::filesystem::file_size(path) < size);
  CHECK(mode_of(path) == 0600);
  CHECK(HistoryFile(path).load().value() == entries);
}

TEST_CASE("invalid bytes in the file do not hide the other entries") {
  const testing::TempFolder directory;
  const auto path = directory / "history";
  const std::string damaged("a\xff\n\n\x00 b\nlast without end", 24);
  std::ofstream(path) << damaged;
  const Entries entries = HistoryFile(path).load().value();
  REQUIRE(entries.size() == 3);
  CHECK(entries[0] == "a\uFFFD");
  CHECK(entries[1] == "  b");
  CHECK(entries[2] == "last without end");
}

TEST_CASE("a symbolic link or a directory is refused with a next step") {
  const testing::TempFolder directory;
  std::ofstream(directory / "elsewhere") << "secret\n";
  std::filesystem::create_symlink(directory / "elsewhere", directory / "link");
  std::filesystem::create_directory(directory / "directory");
  for (const char* name : {"link", "directory"}) {
    CAPTURE(name);
    const HistoryFile file(directory / name);
    const auto loaded = file.load();
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().kind == ErrorKind::data);
    CHECK_FALSE(loaded.error().hint.empty());
    CHECK_FALSE(file.append("x"));
  }
}

}  // namespace
}  // namespace stoka::terminal::history_file_test
