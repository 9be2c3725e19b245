#include "store/postgres_fixtures.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "support/postgres_programs.h"

namespace fs = std::filesystem;

namespace stoka::store::postgres {

std::unique_ptr<Store> open_store(const std::string& url) {
  return must(store::open(url, OpenMode::read_write));
}

std::string log_of(const testing::PostgresServer& server) {
  std::ifstream in(fs::path(server.sql("SHOW data_directory")).parent_path() / "log");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<RestartableDatabase> RestartableDatabase::make() {
  static testing::PostgresServer one({"log_statement = all"});
  if (!one.has_vector()) {
    MESSAGE("needs native PostgreSQL with pgvector");
    return std::nullopt;
  }
  RestartableDatabase database{one, testing::random_name()};
  one.sql("CREATE DATABASE " + database.name, "postgres");
  return database;
}

std::unique_ptr<SmallDisk> SmallDisk::mount(const fs::path& at, const std::string& size,
                                            const fs::path& data) {
  fs::create_directory(at);
  struct stat owner {};
  REQUIRE(stat(data.c_str(), &owner) == 0);
  if (::mount("tmpfs", at.c_str(), "tmpfs", 0, ("mode=700,size=" + size).c_str()) != 0) {
    MESSAGE("needs the privilege to mount a file system");
    return nullptr;
  }
  std::unique_ptr<SmallDisk> disk(new SmallDisk(at));
  REQUIRE(chown(at.c_str(), owner.st_uid, owner.st_gid) == 0);
  return disk;
}

SmallDisk::~SmallDisk() { umount2(at_.c_str(), MNT_DETACH); }

bool many_backends() {
  if (testing::TestDatabase::has_many_backends()) return true;
  MESSAGE("needs a server with more than one backend");
  return false;
}

}  // namespace stoka::store::postgres
