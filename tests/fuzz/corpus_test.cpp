// Runs the inputs in corpus/NAME through their targets, so that both keep working between runs of
// scripts/fuzz. An input that once crashed a target stays there.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "fuzz/targets.h"

namespace corpus_test {

using namespace stoka;
using namespace stoka::fuzz;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = fs::path(STOKA_SOURCE_DIR) / "tests/fuzz";
constexpr uint64_t kMaxCorpusBytes = 200'000;  // of all targets together

std::vector<fs::path> inputs(std::string_view target) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(kFolder / "corpus" / target))
    out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

bool is_target(std::string_view name) {
  return std::any_of(std::begin(kTargets), std::end(kTargets),
                     [&](const Target& target) { return target.name == name; });
}

}  // namespace

TEST_CASE("no input of a corpus breaks the rules of its fuzz target") {
  uint64_t total = 0;
  for (const Target& target : kTargets) {
    CAPTURE(target.name);
    const std::vector<fs::path> paths = inputs(target.name);
    CHECK(paths.size() >= 5);
    for (const fs::path& path : paths) {
      CAPTURE(path.filename().string());
      const Result<std::string> input = read_file(path, kMaxCorpusBytes);
      REQUIRE(input.has_value());
      CHECK_NOTHROW(target.run(*input));
      total += input->size();
    }
  }
  CHECK(total <= kMaxCorpusBytes);
}

TEST_CASE("every fuzz target accepts an empty input and bytes without meaning") {
  std::string bytes;
  for (int i = 0; i < 1024; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  for (const Target& target : kTargets) {
    CAPTURE(target.name);
    CHECK_NOTHROW(target.run(""));
    CHECK_NOTHROW(target.run(bytes));
  }
}

TEST_CASE("fuzz targets, their files and their corpora correspond") {
  size_t files = 0, corpora = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_fuzz.cpp")) continue;
    CAPTURE(name);
    CHECK(is_target(name.substr(0, name.rfind("_fuzz.cpp"))));
    ++files;
  }
  for (const auto& entry : fs::directory_iterator(kFolder / "corpus")) {
    CAPTURE(entry.path().string());
    CHECK(is_target(entry.path().filename().string()));
    ++corpora;
  }
  CHECK(files == std::size(kTargets));
  CHECK(corpora == std::size(kTargets));
}

TEST_CASE("the pieces make up the whole input, and its last bytes decide their lengths") {
  const std::string input = std::string("a streamed text") + "\x02\x10\x01" + "aaaaa";
  const Pieces pieces = chosen_pieces(input);
  REQUIRE(pieces.size() > 3);
  CHECK(pieces[0].size() == 3);
  CHECK(pieces[1].size() == 1);
  CHECK(pieces[2].size() == 2);
  std::string joined, single;
  for (const std::string_view piece : pieces) joined += piece;
  for (const std::string_view piece : single_bytes(input)) single += piece;
  CHECK(joined == input);
  CHECK(single == input);
  CHECK(chosen_pieces("").empty());
}

TEST_CASE("a parser whose result depends on the splits is found") {
  const auto count = [](const Pieces& pieces) { return pieces.size(); };
  CHECK_THROWS_AS(parse_in_splits("abc", count), Violation);
  CHECK_NOTHROW(parse_in_splits("a", count));
}

}  // namespace corpus_test
