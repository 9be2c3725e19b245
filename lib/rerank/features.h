// What the built-in reranker looks at: a few plain measures of how a chunk meets a question. Pure.
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
  std::string word;     // folded; empty for a compound
  std::string term;     // as indexed
  double weight = 1.0;  // idf as a share of the largest possible one; 1 for what the index lacks
  bool known = true;    // occurs in the index
};

// The words of a question that carry content, each once and in order, then its compounds ("c++",
// "rust-analyzer"). Stop words and the scaffolding of questions ("interested", "help", "what do you
// think about", "as bullet points") are left out, even if nothing remains: such a question asks for
// nothing. Of scripts without spaces the pairs of letters count, as text::words() yields them;
// beside Hiragana and the Han characters of grammar a Han character counts by itself, and they
// count only in a question that has nothing else in their script.
struct Question {
  std::vector<QuestionTerm> words;
  std::vector<QuestionTerm> compounds;
  bool foreign = false;  // as its function words tell, it is not in English
};

Question parse_question(std::string_view query);

// Sets the weights from an index of `chunks` chunks: how many of them have each term of the words,
// then of the compounds. Compounds that the index lacks are dropped, and of a foreign question the
// function words that it lacks. With 0 chunks all weigh the same.
void weigh(Question& question, uint64_t chunks, std::span<const uint64_t> frequencies);

enum Feature : size_t {
  kCoverage,  // share of the question's weight that the chunk meets anywhere
  kHeading,   // share that its title, section, tags or slug meet
  kClose,     // share of neighbouring words of the question that stand close together in the chunk
  kEvidence,  // weight met, saturating: one word says less than three
  kSense,     // cosine above that of a middling candidate, as a share of what is possible
  kFeatures,
};
using Features = std::array<double, kFeatures>;

// Each in [0,1], one set a hit; all zero for a question without words and compounds.
std::vector<Features> measure(const Question& question, std::span<const Hit> hits);

// Whether the question names a document: its title has one to three content words, and all of them
// stand in the question, whatever else does.
bool names(const Question& question, std::string_view title);

}  // namespace stoka::rerank
