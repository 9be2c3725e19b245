#include "rerank/scaffolding.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace stoka::rerank {
namespace {

constexpr std::string_view kAlone[] = {
    "interested", "explain", "explained", "talk", "article", "articles", "post",
    "posts",      "read",    "recommend", "want", "written", "yes",      "no",
    "ok",         "okay",    "more",      "help", "please",  "thank",    "thanks"};

// Words that wrap a question only beside these others; by themselves they are what it is about. "*"
// is any word, "" none.
using Wrapping = std::array<std::string_view, 3>;
constexpr Wrapping kTogether[] = {
    {"think", "about", ""},     {"think", "of", ""},        {"opinion", "on", ""},
    {"opinion", "about", ""},   {"opinion", "of", ""},      {"opinions", "on", ""},
    {"opinions", "about", ""},  {"thoughts", "on", ""},     {"list", "your", ""},
    {"your", "best", ""},       {"your", "*", "best"},      {"your", "favourite", ""},
    {"your", "favorite", ""},   {"as", "bullet", "points"}, {"with", "bullet", "points"},
    {"in", "bullet", "points"}, {"as", "a", "list"},        {"with", "emoji", ""},
    {"with", "emojis", ""},     {"with", "an", "emoji"}};

bool stands_at(const Wrapping& wrapping, const std::vector<text::Word>& words, size_t at) {
  for (size_t i = 0; i < wrapping.size() && !wrapping[i].empty(); ++i)
    if (at + i >= words.size() || (wrapping[i] != "*" && wrapping[i] != words[at + i].text))
      return false;
  return true;
}

}  // namespace

std::vector<bool> scaffolding(const std::vector<text::Word>& words) {
  std::vector<bool> out(words.size());
  for (size_t at = 0; at < words.size(); ++at) {
    if (std::find(std::begin(kAlone), std::end(kAlone), words[at].text) != std::end(kAlone))
      out[at] = true;
    for (const Wrapping& wrapping : kTogether) {
      if (!stands_at(wrapping, words, at)) continue;
      for (size_t i = 0; i < wrapping.size() && !wrapping[i].empty(); ++i)
        if (wrapping[i] != "*") out[at + i] = true;
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
