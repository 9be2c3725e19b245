// The features of the built-in reranker: a few simple measures of how well a chunk matches a
// question. The functions are pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hit.h"

namespace stoka::rerank {

struct QuestionTerm {
  std::string word;     // the folded word; empty for a compound
  std::string term;     // the term as it is spelled in the index
  double weight = 1.0;  // idf of the term divided by the idf of a term not in the index
  bool known = true;    // the term occurs in the index
};

// The content words of a question, each once and in order, and its compounds ("c++",
// "rust-analyzer"). Stop words and stop phrases ("please", "as bullet points") are left out, even
// if no word remains: such a question matches nothing. In scripts without spaces the words are the
// letter pairs that text::words() returns. A pair that contains a grammatical letter (Hiragana, or
// a Han character such as "是") is left out; its Han character counts as a word of its own, unless
// a neighbouring pair has it. A question that consists of such pairs only keeps them.
struct Question {
  std::vector<QuestionTerm> words;
  std::vector<QuestionTerm> compounds;
  bool foreign = false;  // the question is not in English, judging by its stop words
};

Question parse_question(std::string_view query);

// Sets the weights of the terms from their document frequencies. `chunks` is the number of chunks
// in the index; `frequencies` says how many of them have each word, then each compound. Compounds
// that the index does not have are removed, and from a foreign question also the stop words of
// other languages that the index does not have. If `chunks` is 0, all terms weigh the same.
void weight_terms(Question& question, uint64_t chunks, std::span<const uint64_t> frequencies);

enum Feature : size_t {
  kCoverage,    // share of the weight of the question's terms that the chunk has
  kHeading,     // the coverage, counting only title, section, tags and slug
  kProximity,   // share of neighbouring words of the question that are close together in the chunk
  kEvidence,    // saturating function of the matched weight: three words are more evidence than one
  kSimilarity,  // semantic similarity: how far the cosine exceeds the median of all hits
  kFeatureCount,
};
using Features = std::array<double, kFeatureCount>;

// The features of each hit, all in [0,1]; all zero if the question has no words and compounds.
std::vector<Features> compute_features(const Question& question, std::span<const Hit> hits);

// Whether the question names the document with this title: the title has one to three content
// words, and the question contains all of them.
bool names_document(const Question& question, std::string_view title);

}  // namespace stoka::rerank
