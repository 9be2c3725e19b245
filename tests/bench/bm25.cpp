// Measures lexical search over 100,000 synthetic chunks in a SQLite file. Arguments: the number of
// chunks, and of chunks a document.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "store/open.h"

namespace {

using namespace stoka;
using namespace stoka::store;
using Steady = std::chrono::steady_clock;

constexpr size_t kVocabulary = 50000;
constexpr int kWordsPerChunk = 200;  // about 120 of them distinct
constexpr int kQueries = 400;

double ms_since(Steady::time_point start) {
  return std::chrono::duration<double, std::milli>(Steady::now() - start).count();
}

// Draws words by Zipf's law.
class Words {
 public:
  Words() {
    double total = 0;
    for (size_t rank = 0; rank < kVocabulary; ++rank) {
      sums_.push_back(total += 1 / std::pow(static_cast<double>(rank) + 2.7, 1.0));
    }
  }
  size_t next() {
    const double at = static_cast<double>(random_()) / 4294967296.0 * sums_.back();
    return static_cast<size_t>(std::lower_bound(sums_.begin(), sums_.end(), at) - sums_.begin());
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

 private:
  std::mt19937 random_{7};
  std::vector<double> sums_;
};

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void build(Store& store, Words& words, int chunks, int per_document) {
  const auto writer = must(store.begin_index());
  for (int first = 0; first < chunks; first += per_document) {
    Document document;
    document.slug = "doc-" + std::to_string(first);
    std::vector<ChunkRecord> records;
    for (int index = 0; index < per_document; ++index) {
      std::map<size_t, uint32_t> counts;
      for (int word = 0; word < kWordsPerChunk; ++word) ++counts[words.next()];
      ChunkRecord& record = records.emplace_back();
      record.chunk.slug = document.slug;
      record.chunk.index = index;
      record.chunk.content = std::string(1200, 'x');
      for (const auto& [word, count] : counts) {
        record.terms.push_back({"w" + std::to_string(word), count});
      }
    }
    must(writer->put_document(document, records));
  }
}

// A query of three to six words without the `skip` commonest ones, since real queries lose their
// stop words.
std::vector<QueryTerm> make_query(Words& words, size_t skip) {
  std::vector<QueryTerm> query;
  const uint32_t size = 3 + words.below(4);
  while (query.size() < size) {
    const size_t word = words.next();
    if (word >= skip) query.push_back({"w" + std::to_string(word), 1});
  }
  return query;
}

struct Times {
  double p50;
  double p95;
};

Times run(Store& store, const std::vector<std::vector<QueryTerm>>& queries) {
  std::vector<double> times;
  for (const auto& query : queries) {
    const auto start = Steady::now();
    const auto found = must(store.search_lexical(query, 20, {}));
    times.push_back(ms_since(start));
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 95 / 100]};
}

}  // namespace

int main(int argc, char** argv) {
  const int chunks = argc > 1 ? std::atoi(argv[1]) : 100000;
  const int per_document = argc > 2 ? std::atoi(argv[2]) : 20;
  std::string directory = (std::filesystem::temp_directory_path() / "stoka-bench-XXXXXX").string();
  if (!mkdtemp(directory.data())) return 1;
  const std::string path = directory + "/stoka.db";
  Words words;
  {
    const auto store = must(store::open(path, OpenMode::read_write));
    const auto start = Steady::now();
    build(*store, words, chunks, per_document);
    const double time = ms_since(start);
    std::printf("build: %d chunks in %.1f s, %.2f ms a document of %d, %.0f MB\n", chunks,
                time / 1000, time * per_document / chunks, per_document,
                static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  }
  std::printf("%-34s %8s %8s %8s\n", "top 20, 3 to 6 words, ms", "p50", "p95", "ratio");
  double baseline = 0;
  for (const size_t skip : {size_t{100}, size_t{20}, size_t{0}}) {
    std::vector<std::vector<QueryTerm>> queries;
    for (int i = 0; i < kQueries; ++i) queries.push_back(make_query(words, skip));
    const auto start = Steady::now();
    const auto store = must(store::open(path, OpenMode::read));
    must(store->search_lexical(queries[0], 20, {}));
    const double first = ms_since(start);
    const Times cold = run(*store, queries);
    const Times warm = run(*store, queries);
    if (baseline == 0) baseline = warm.p50;
    const std::string without = "without the " + std::to_string(skip) + " commonest words";
    std::printf("%-34s\n", without.c_str());
    std::printf("  %-32s %8.3f\n", "open and first query", first);
    std::printf("  %-32s %8.3f %8.3f %8.2f\n", "filling the cache", cold.p50, cold.p95,
                cold.p50 / baseline);
    std::printf("  %-32s %8.3f %8.3f %8.2f\n", "warm", warm.p50, warm.p95, warm.p50 / baseline);
  }
  std::filesystem::remove_all(directory);
}
