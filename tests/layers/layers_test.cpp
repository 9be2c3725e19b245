// Checks the rules of lib/README.md: dependencies between rooms, third-party libraries, file sizes.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace layers_test {

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = STOKA_SOURCE_DIR;
constexpr size_t kMaxLines = 500;

struct Room {
  int tier = 0;
  std::set<std::string> owns;
};

// Prefix of an include -> name of the library in the table. Any other include in <> must be a
// standard or system header.
const std::map<std::string, std::string> kLibraries = {
    {"toml++/", "toml++"},          {"xxhash.h", "xxhash"},  {"utf8proc.h", "utf8proc"},
    {"libstemmer.h", "libstemmer"}, {"sqlite3.h", "SQLite"}, {"md4c", "md4c"},
    {"yaml-cpp/", "yaml-cpp"},      {"Eigen/", "Eigen"},     {"histedit.h", "libedit"},
    {"editline/", "libedit"},       {"CLI/", "CLI11"},       {"pqxx/", "libpqxx"},
    {"curl/", "libcurl"},           {"boost/", "Boost"},     {"openssl/", "OpenSSL"},
};
const std::set<std::string> kEverywhere = {"fmt/", "tl/"};
const std::set<std::string> kSystem = {"fcntl.h",  "unistd.h",    "termios.h",  "poll.h",
                                       "signal.h", "pthread.h",   "langinfo.h", "immintrin.h",
                                       "netdb.h",  "arpa/inet.h", "malloc.h"};

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::map<std::string, Room> read_table() {
  std::map<std::string, Room> out;
  std::ifstream in(kRoot / "lib/README.md");
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells;
    std::stringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(trimmed(cell));
    if (cells.size() < 5 || cells[1].empty() ||
        !std::isdigit(static_cast<unsigned char>(cells[1][0])))
      continue;
    Room room{std::stoi(cells[1]), {}};
    std::stringstream owned(cells[4]);
    for (std::string name; std::getline(owned, name, ',');)
      if (trimmed(name) != "-") room.owns.insert(trimmed(name));
    out[cells[2]] = room;
  }
  return out;
}

bool is_source(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cpp";
}

struct Include {
  std::string target;
  bool angled = false;
};

std::vector<Include> includes(const fs::path& file) {
  std::vector<Include> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("#include ")) continue;
    char open = line[9];
    size_t end = line.find(open == '<' ? '>' : '"', 10);
    if (end != std::string::npos) out.push_back({line.substr(10, end - 10), open == '<'});
  }
  return out;
}

template <class Visit>
void each_source(const fs::path& below, Visit visit) {
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / below))
    if (entry.is_regular_file() && is_source(entry.path())) visit(entry.path());
}

bool is_standard(const std::string& header) {
  return kSystem.contains(header) || header.starts_with("sys/") || header.starts_with("netinet/") ||
         header.find_first_of("/.") == std::string::npos;
}

}  // namespace

TEST_CASE("the table of rooms in lib/README.md lists exactly the folders of lib") {
  auto table = read_table();
  REQUIRE(table.size() > 10);
  for (const auto& entry : fs::directory_iterator(kRoot / "lib"))
    if (entry.is_directory())
      CHECK_MESSAGE(table.contains(entry.path().filename()), entry.path().filename());
  for (const auto& [room, row] : table) CHECK_MESSAGE(fs::is_directory(kRoot / "lib" / room), room);
}

TEST_CASE("code in a folder of lib includes only headers of folders in lower tiers") {
  auto table = read_table();
  each_source("lib", [&](const fs::path& file) {
    std::string own = *fs::relative(file, kRoot / "lib").begin();
    for (const Include& include : includes(file)) {
      if (include.angled) continue;
      std::string room = include.target.substr(0, include.target.find('/'));
      CHECK_MESSAGE(table.contains(room), file.string() << " includes " << include.target);
      bool allowed = room == own || table[room].tier < table[own].tier;
      // Rooms of tier 1 may use the structs of model.
      allowed = allowed || (room == "model" && table[own].tier == 1);
      CHECK_MESSAGE(allowed, file.string() << " includes " << include.target);
    }
  });
}

TEST_CASE("a third-party library is used only in the folder that owns it") {
  auto table = read_table();
  each_source("lib", [&](const fs::path& file) {
    std::string own = *fs::relative(file, kRoot / "lib").begin();
    for (const Include& include : includes(file)) {
      if (!include.angled || is_standard(include.target)) continue;
      auto starts = [&](const auto& prefix) { return include.target.starts_with(prefix); };
      if (std::any_of(kEverywhere.begin(), kEverywhere.end(), starts)) continue;
      if (include.target.starts_with("nlohmann/")) {
        const bool allowed =
            file.extension() == ".cpp" || include.target == "nlohmann/json_fwd.hpp";
        CHECK_MESSAGE(allowed, file.string() << " has JSON in a header");
        continue;
      }
      auto library = std::find_if(kLibraries.begin(), kLibraries.end(), [&](const auto& entry) {
        return include.target.starts_with(entry.first);
      });
      REQUIRE_MESSAGE(library != kLibraries.end(),
                      file.string() << " includes unknown <" << include.target << ">");
      CHECK_MESSAGE(
          table[own].owns.contains(library->second),
          file.string() << " includes <" << include.target << ">, which belongs to another room");
    }
  });
}

TEST_CASE("no file is longer than kMaxLines") {
  for (const char* part : {"lib", "apps", "tests"})
    each_source(part, [&](const fs::path& file) {
      std::ifstream in(file);
      auto lines = std::count(std::istreambuf_iterator<char>(in), {}, '\n');
      CHECK_MESSAGE(static_cast<size_t>(lines) <= kMaxLines, file.string()
                                                                 << " has " << lines << " lines");
    });
}

TEST_CASE("main.cpp stays short") {
  std::ifstream in(kRoot / "apps/stoka/main.cpp");
  CHECK(std::count(std::istreambuf_iterator<char>(in), {}, '\n') < 80);
}

}  // namespace layers_test
