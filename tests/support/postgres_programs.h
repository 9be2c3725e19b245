// The programs of PostgreSQL that tests use.
#pragma once

#include <filesystem>
#include <string>

namespace stoka::testing {

// Those that scripts/test_database made, else the newest that are installed, those with pgvector
// before others.
class PostgresPrograms {
 public:
  PostgresPrograms();
  bool found() const { return !folder_.empty(); }
  // Throws when there are none.
  std::string path(const std::string& program) const;
  // Uses a copy from now on.
  void copy_to(const std::filesystem::path& folder);

 private:
  std::filesystem::path folder_;
};

// What psql prints: rows without decoration, without the last line's end. Throws what it complains
// of.
std::string run_psql(const PostgresPrograms& programs, const std::string& url,
                     const std::string& statements);

// Of lower-case letters and digits, and never the same twice.
std::string random_name();

}  // namespace stoka::testing
