#include "base/files.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "support/temp_folder.h"

namespace files_test {

using namespace stoka;

TEST_CASE("write_file replaces the whole file, and read_file has a size limit") {
  testing::TempFolder folder;
  const std::filesystem::path& dir = folder.path;
  REQUIRE(write_file(dir / "a", "hello", 0600));
  CHECK(read_file(dir / "a", 100).value() == "hello");
  CHECK((std::filesystem::status(dir / "a").permissions() & std::filesystem::perms::others_all) ==
        std::filesystem::perms::none);
  CHECK(read_file(dir / "a", 3).error().kind == ErrorKind::data);
  CHECK(read_file(dir, 100).error().message.find(dir.string()) != std::string::npos);
  CHECK(read_file(dir / "missing", 100).error().kind == ErrorKind::data);
  CHECK(!write_file(dir / "no" / "such", "x"));
}

}  // namespace files_test
