#include "search/bm25.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace bm25_test {

using namespace stoka::search;

TEST_CASE("idf follows Lucene's formula and stays above zero for terms in every chunk") {
  CHECK(idf(100, 1) == doctest::Approx(std::log(1 + 99.5 / 1.5)));
  CHECK(idf(100, 50) == doctest::Approx(std::log(2.0)));
  CHECK(idf(100, 100) > 0);
  CHECK(idf(100, 1) > idf(100, 2));
  CHECK(idf(0, 0) == doctest::Approx(std::log(2.0)));
}

TEST_CASE("the weight of a term grows with its frequency and falls with the length of the chunk") {
  const Bm25Params params;
  CHECK(term_weight(1, 100, 100, params) == doctest::Approx(1 / 2.2));
  CHECK(term_weight(3, 100, 100, params) == doctest::Approx(3 / 4.2));
  CHECK(term_weight(1, 200, 100, params) == doctest::Approx(1 / (1 + 1.2 * 1.75)));
  CHECK(term_weight(1, 5, 0, params) == doctest::Approx(1 / 2.2));
  CHECK(term_weight(1, 7, 100, {1.2, 0}) == doctest::Approx(1 / 2.2));
}

TEST_CASE("the average length of an empty corpus is zero") {
  CHECK(CorpusStats{}.average_length() == 0);
  CHECK(CorpusStats{4, 10}.average_length() == 2.5);
}

TEST_CASE("encoded postings are decoded unchanged") {
  constexpr int64_t kMaxId = std::numeric_limits<int64_t>::max();
  constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
  const std::vector<std::vector<Posting>> cases = {
      {},
      {{0, 1, 0}},
      {{1, 1, 1}, {2, 2, 127}, {130, 128, 128}, {100000, 1, 16384}},
      {{0, kMax, kMax}, {kMaxId, 1, kMax}},
      {{kMaxId - 1, 1, 1}, {kMaxId, 1, 1}},
  };
  for (const auto& postings : cases) {
    std::vector<Posting> decoded = {{9, 9, 9}};
    REQUIRE(decode_postings(encode_postings(postings), decoded));
    CHECK(decoded == postings);
  }
  CHECK(encode_postings(cases[1]).size() == 3);
}

TEST_CASE("decoding damaged postings fails and keeps those before the damage") {
  const std::vector<Posting> postings = {{5, 2, 300}, {9, 1, 300}};
  const std::string bytes = encode_postings(postings);
  std::vector<Posting> decoded;
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    const bool whole = decode_postings(bytes.substr(0, cut), decoded);
    CHECK(whole == (cut == 4));
    CHECK(decoded.size() == (cut < 4 ? 0 : 1));
  }
  struct {
    const char* what;
    std::string bytes;
  } const cases[] = {
      {"an id twice", std::string("\x05\x01\x01\x00\x01\x01", 6)},
      {"no occurrence", std::string("\x05\x00\x01", 3)},
      {"a count above 32 bits", "\x05\x80\x80\x80\x80\x10\x01"},
      {"an id above 63 bits", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x01"},
      {"ids that overflow", "\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01\x01\x01\x01\x01"},
      {"a number that never ends", std::string(12, '\xff')},
  };
  for (const auto& c : cases) {
    CAPTURE(c.what);
    CHECK_FALSE(decode_postings(c.bytes, decoded));
  }
}

}  // namespace bm25_test
