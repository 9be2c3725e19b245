#include "search/scan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

namespace scan_test {

using namespace stoka::search;

namespace {

constexpr Bm25Params kParams;

struct Corpus {
  std::vector<std::vector<Posting>> postings;  // by term
  std::vector<TermColumn> columns;
  double average_length = 0;
};

// Term t is in about one chunk of t + 1; ids have gaps that leave whole blocks empty.
Corpus make_corpus(size_t chunks, size_t terms, uint32_t seed) {
  std::mt19937 random(seed);
  Corpus corpus;
  corpus.postings.resize(terms);
  double total = 0;
  int64_t id = 0;
  for (size_t chunk = 0; chunk < chunks; ++chunk) {
    id += random() % 100 == 0 ? 3000 : 1 + random() % 3;
    const uint32_t length = 50 + random() % 200;
    total += length;
    for (size_t term = 0; term < terms; ++term) {
      if (random() % (term + 1) == 0) {
        corpus.postings[term].push_back({id, 1 + static_cast<uint32_t>(random() % 4), length});
      }
    }
  }
  corpus.average_length = total / static_cast<double>(chunks);
  for (const auto& postings : corpus.postings) {
    corpus.columns.emplace_back(postings, corpus.average_length, kParams);
  }
  return corpus;
}

struct Term {
  size_t number;
  double factor;
};

std::vector<Scored> by_hand(const Corpus& corpus, const std::vector<Term>& query,
                            const std::vector<int64_t>& skip) {
  std::map<int64_t, double> scores;
  for (const Term& term : query) {
    if (!(term.factor > 0)) continue;
    for (const Posting& p : corpus.postings[term.number]) {
      scores[p.id] += term.factor * term_weight(p.tf, p.length, corpus.average_length, kParams);
    }
  }
  std::vector<Scored> found;
  for (const auto& [id, score] : scores) {
    if (!std::binary_search(skip.begin(), skip.end(), id)) found.push_back({id, score});
  }
  std::sort(found.begin(), found.end(), ranks_before);
  return found;
}

}  // namespace

TEST_CASE("a scan returns exactly the scores and the order of the formula") {
  const Corpus corpus = make_corpus(5000, 40, 7);
  const std::vector<std::vector<Term>> queries = {
      {{0, 1.0}},
      {{39, 1.0}},
      {{0, 0.1}, {1, 0.7}, {20, 2.5}, {39, 3.0}},
      {{5, 1.0}, {6, 1.0}, {7, 1.0}, {8, 0.3}, {9, 0.3}, {30, 4.0}, {31, 4.0}},
      {{3, 1e-30}, {20, 1.0}},
      {{3, -1.0}, {4, 0.0}, {20, 1.0}},
      {{2, 1e300}, {3, 1e299}},
      {},
  };
  const std::vector<int64_t> few = {by_hand(corpus, {{20, 1.0}}, {})[0].id};
  std::vector<int64_t> many;
  for (const Posting& p : corpus.postings[1]) many.push_back(p.id);
  for (const auto& query : queries) {
    for (const auto& skip : {std::vector<int64_t>{}, few, many}) {
      const auto expected = by_hand(corpus, query, skip);
      std::vector<ScanTerm> terms;
      for (const Term& t : query) terms.push_back({&corpus.columns[t.number], t.factor});
      for (const size_t k : {0, 1, 20, 100, 4000, 100000}) {
        const auto found = scan(terms, corpus.average_length, kParams, k, skip);
        size_t size = std::min<size_t>(k, expected.size());
        while (size > 0 && size < expected.size() &&
               expected[size].score == expected[size - 1].score) {
          ++size;
        }
        REQUIRE(found.size() == size);
        bool same = true;
        for (size_t i = 0; i < size; ++i) {
          same = same && found[i].id == expected[i].id && found[i].score == expected[i].score;
        }
        CHECK(same);
      }
    }
  }
}

TEST_CASE("all chunks that tie with the k-th are returned") {
  std::vector<Posting> postings;
  for (int64_t id = 1; id <= 5000; ++id) postings.push_back({id, id == 4321 ? 2U : 1U, 100});
  const TermColumn column(postings, 100, kParams);
  const ScanTerm terms[] = {{&column, 1.5}};
  CHECK(scan(terms, 100, kParams, 1).size() == 1);
  const auto found = scan(terms, 100, kParams, 2);
  REQUIRE(found.size() == 5000);
  CHECK(found[0].id == 4321);
  CHECK(found[1].id == 1);
}

TEST_CASE("a column reports its size and memory use") {
  const TermColumn empty({}, 0, kParams);
  CHECK(empty.size() == 0);
  const std::vector<Posting> postings = {{1, 1, 1}, {5000, 1, 1}};
  const TermColumn column(postings, 1, kParams);
  CHECK(column.size() == 2);
  CHECK(column.bytes() > empty.bytes());
}

}  // namespace scan_test
