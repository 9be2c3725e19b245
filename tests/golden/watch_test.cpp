#include "golden/watch.h"

#include <doctest/doctest.h>

#include <chrono>

#include "support/temp_folder.h"

namespace watch_test {

using namespace stoka;

TEST_CASE("a file that is added, written or removed is a change, once") {
  testing::TempFolder folder;
  folder.write("identity.txt", "You are the site.\n");
  golden::DirectoryWatch watch(folder.path);
  CHECK_FALSE(watch.changed());
  folder.write("voice.txt", "Short.\n");
  CHECK(watch.changed());
  CHECK_FALSE(watch.changed());
  folder.write("voice.txt", "Shorter still.\n");
  CHECK(watch.changed());
  // A file of the same size is noticed by its time.
  const auto path = folder.path / "voice.txt";
  std::filesystem::last_write_time(
      path, std::filesystem::last_write_time(path) + std::chrono::seconds(5));
  CHECK(watch.changed());
  CHECK_FALSE(watch.changed());
  std::filesystem::remove(path);
  CHECK(watch.changed());
  CHECK_FALSE(watch.changed());
}

TEST_CASE("a directory that does not exist yet is like an empty one") {
  testing::TempFolder folder;
  golden::DirectoryWatch watch(folder.path / "later");
  CHECK_FALSE(watch.changed());
  folder.write("later/voice.txt", "Short.\n");
  CHECK(watch.changed());
}

}  // namespace watch_test
