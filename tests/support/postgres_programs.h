// The PostgreSQL programs for tests.
#pragma once

#include <filesystem>
#include <string>

namespace stoka::testing {

// The programs that scripts/test_database has built, else the latest installed version, preferring
// versions with pgvector.
class PostgresPrograms {
 public:
  PostgresPrograms();
  bool found() const { return !folder_.empty(); }
  // Throws if none were found.
  std::string path(const std::string& program) const;
  // Copies the programs to `folder` and uses the copy from then on.
  void copy_to(const std::filesystem::path& folder);

 private:
  std::filesystem::path folder_;
};

// The output of psql: plain rows, without the last newline. Throws the message of psql.
std::string run_psql(const PostgresPrograms& programs, const std::string& url,
                     const std::string& statements);

// A random identifier of lower-case letters and digits.
std::string random_name();

}  // namespace stoka::testing
