#include "support/postgres_programs.h"

#include <cstdlib>
#include <random>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "support/process.h"

namespace fs = std::filesystem;

namespace stoka::testing {
namespace {

constexpr int kMinVersion = 15;

fs::path find_folder() {
  const fs::path made = fs::path(STOKA_SOURCE_DIR) / "build/test-postgres/bin";
  if (fs::exists(made / "postgres")) return made;

  std::pair<bool, int> best;  // with pgvector, version
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", none)) {
    const std::string version = entry.path().filename();
    if (std::atoi(version.c_str()) < kMinVersion || !fs::exists(entry.path() / "bin/postgres"))
      continue;
    const fs::path share = fs::path("/usr/share/postgresql") / version;
    best = std::max(best, {fs::exists(share / "extension/vector.control"), std::stoi(version)});
  }
  if (best.second) return fs::path("/usr/lib/postgresql") / std::to_string(best.second) / "bin";

  const char* search = std::getenv("PATH");
  std::istringstream folders(search ? search : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (fs::exists(fs::path(folder) / "initdb")) return folder;
  return {};
}

}  // namespace

PostgresPrograms::PostgresPrograms() : folder_(find_folder()) {}

std::string PostgresPrograms::path(const std::string& program) const {
  if (!found())
    throw std::runtime_error("no PostgreSQL of version 15 or later: run scripts/setup test");
  return folder_ / program;
}

void PostgresPrograms::copy_to(const fs::path& folder) {
  // The programs find their libraries relative to themselves, so the whole tree is copied; most of
  // it is symbolic links.
  const fs::path bin = fs::canonical(folder_), root = bin / "../../../..";
  fs::create_directories(folder);
  fs::copy(root.lexically_normal(), folder,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  folder_ = folder / fs::relative(bin, fs::canonical(root));
}

std::string run_psql(const PostgresPrograms& programs, const std::string& url,
                     const std::string& statements) {
  ProcessResult ran = run_process(
      {programs.path("psql"), "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-d", url, "-f", "-"},
      statements + "\n");
  if (ran.code != 0) throw std::runtime_error("psql: " + ran.err);
  if (ran.out.ends_with('\n')) ran.out.pop_back();
  return ran.out;
}

std::string random_name() {
  std::random_device random;
  std::string out = "t";
  for (int i = 0; i < 20; ++i) out += "abcdefghijklmnopqrstuvwxyz0123456789"[random() % 36];
  return out;
}

}  // namespace stoka::testing
