#include "store/term_column_cache.h"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

namespace term_column_cache_test {

using namespace stoka;
using namespace stoka::store;

namespace {

TermColumnCache::Column column(int64_t chunks) {
  std::vector<search::Posting> postings;
  for (int64_t id = 0; id < chunks; ++id) postings.push_back({id, 1, 10});
  return std::make_shared<const search::TermColumn>(postings, 10, search::Bm25Params{});
}

}  // namespace

TEST_CASE("a column is cached for its generation of the index only") {
  TermColumnCache columns;
  const auto first = column(1);
  CHECK(columns.get("a", 1) == nullptr);
  columns.put("a", first, 1);
  CHECK(columns.get("a", 1) == first);
  CHECK(columns.get("b", 1) == nullptr);
  CHECK(columns.bytes() == first->bytes());

  columns.put("a", column(2), 1);
  CHECK(columns.get("a", 1) == first);

  CHECK(columns.get("a", 2) == nullptr);
  CHECK(columns.bytes() == 0);
  // A reader of an older generation gets nothing and stores nothing.
  columns.put("a", first, 1);
  CHECK(columns.get("a", 1) == nullptr);
  CHECK(columns.get("a", 2) == nullptr);
  const auto second = column(3);
  columns.put("a", second, 2);
  CHECK(columns.get("a", 1) == nullptr);
  CHECK(columns.get("a", 2) == second);
  columns.put("b", first, 3);
  CHECK(columns.get("a", 3) == nullptr);
  CHECK(columns.get("b", 3) == first);
}

TEST_CASE("the least recently used columns are evicted when the cache is full") {
  const size_t size = column(100)->bytes();
  TermColumnCache columns(3 * size);
  for (const char* term : {"a", "b", "c"}) columns.put(term, column(100), 1);
  CHECK(columns.bytes() == 3 * size);
  CHECK(columns.get("a", 1) != nullptr);
  columns.put("d", column(100), 1);
  CHECK(columns.bytes() == 3 * size);
  CHECK(columns.get("b", 1) == nullptr);
  for (const char* term : {"a", "c", "d"}) CHECK(columns.get(term, 1) != nullptr);

  TermColumnCache none(size - 1);
  none.put("a", column(100), 1);
  CHECK(none.bytes() == 0);
  CHECK(none.get("a", 1) == nullptr);
}

TEST_CASE("threads share columns while the generation changes") {
  TermColumnCache columns(20 * column(10)->bytes());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&columns] {
      for (uint64_t step = 0; step < 3000; ++step) {
        const uint64_t generation = 1 + step / 500;
        const std::string term = std::to_string(step * 7 % 50);
        if (!columns.get(term, generation)) columns.put(term, column(10), generation);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(columns.bytes() <= 20 * column(10)->bytes());
  const auto last = column(10);
  columns.put("last", last, 100);
  CHECK(columns.get("last", 100) == last);
  CHECK(columns.bytes() == last->bytes());
}

}  // namespace term_column_cache_test
