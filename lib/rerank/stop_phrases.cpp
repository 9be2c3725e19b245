#include "rerank/stop_phrases.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace stoka::rerank {
namespace {

constexpr std::string_view kStopPhraseWords[] = {
    "interested", "explain", "explained", "talk", "article", "articles", "post",
    "posts",      "read",    "recommend", "want", "written", "yes",      "no",
    "ok",         "okay",    "more",      "help", "please",  "thank",    "thanks"};

// Words that form a stop phrase only together; on their own they may be what the question is about.
// "*" matches any word, and "" ends the phrase.
using Phrase = std::array<std::string_view, 3>;
constexpr Phrase kStopPhrases[] = {
    {"think", "about", ""},     {"think", "of", ""},        {"opinion", "on", ""},
    {"opinion", "about", ""},   {"opinion", "of", ""},      {"opinions", "on", ""},
    {"opinions", "about", ""},  {"thoughts", "on", ""},     {"list", "your", ""},
    {"your", "best", ""},       {"your", "*", "best"},      {"your", "favourite", ""},
    {"your", "favorite", ""},   {"as", "bullet", "points"}, {"with", "bullet", "points"},
    {"in", "bullet", "points"}, {"as", "a", "list"},        {"with", "emoji", ""},
    {"with", "emojis", ""},     {"with", "an", "emoji"}};

bool matches_at(const Phrase& phrase, const std::vector<text::Word>& words, size_t at) {
  for (size_t i = 0; i < phrase.size() && !phrase[i].empty(); ++i)
    if (at + i >= words.size() || (phrase[i] != "*" && phrase[i] != words[at + i].text))
      return false;
  return true;
}

}  // namespace

std::vector<bool> find_stop_phrases(const std::vector<text::Word>& words) {
  std::vector<bool> out(words.size());
  for (size_t at = 0; at < words.size(); ++at) {
    if (std::find(std::begin(kStopPhraseWords), std::end(kStopPhraseWords), words[at].text) !=
        std::end(kStopPhraseWords))
      out[at] = true;
    for (const Phrase& phrase : kStopPhrases) {
      if (!matches_at(phrase, words, at)) continue;
      for (size_t i = 0; i < phrase.size() && !phrase[i].empty(); ++i)
        if (phrase[i] != "*") out[at + i] = true;
    }
  }
  return out;
}

bool is_foreign(const std::vector<text::Word>& words) {
  size_t foreign = 0;
  size_t english = 0;
  for (const text::Word& word : words) {
    if (text::is_foreign_stop_word(word.text))
      ++foreign;
    else if (text::is_stop_word(word.text))
      ++english;
  }
  return foreign >= 2 && foreign > english;
}

}  // namespace stoka::rerank
