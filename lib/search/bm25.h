// BM25 with Lucene's formula, and the posting lists that it uses. The functions are pure.
//   score(d) = sum over query terms t of idf(t) * tf / (tf + k1 * (1 - b + b * len(d) / avg_len))
//   idf(t)   = ln(1 + (N - n + 0.5) / (n + 0.5))
// Source: Robertson and Zaragoza 2009. Like Lucene's BM25Similarity, this omits the constant factor
// (k1 + 1).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::search {

struct Bm25Params {
  double k1 = 1.2;
  double b = 0.75;
};

struct CorpusStats {
  uint64_t documents = 0;     // the N of the formula: the number of chunks in the index
  uint64_t total_length = 0;  // the sum of all chunk lengths in terms
  double average_length() const { return documents ? double(total_length) / double(documents) : 0; }
};

double idf(uint64_t documents, uint64_t document_frequency);

// The term frequency part of BM25: tf / (tf + k1 * (1 - b + b * length / average_length)).
double term_weight(uint32_t tf, uint32_t length, double average_length, const Bm25Params& params);

// The occurrence of a term in a chunk.
struct Posting {
  int64_t id = 0;       // the id of a chunk
  uint32_t tf = 0;      // how often the term occurs in the chunk
  uint32_t length = 0;  // the length of the chunk in terms
  bool operator==(const Posting&) const = default;
};

// Encodes postings as varints: id delta, tf, length. The ids must be ascending and not negative,
// and tf must not be 0. decode_postings() replaces `out`; if the bytes are damaged, it returns
// false and `out` holds the postings before the damage.
std::string encode_postings(std::span<const Posting> postings);
bool decode_postings(std::string_view bytes, std::vector<Posting>& out);

}  // namespace stoka::search
