#include "rerank/features.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/nearest.h"
#include "rerank/scaffolding.h"
#include "search/bm25.h"
#include "text/characters.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::rerank {
namespace {

constexpr double kInBody = 0.75;      // a single mention in the text, against one in the title
constexpr double kInBodyOften = 0.9;  // three and more
constexpr double kMisspelt = 0.8;     // of the word it resembles
constexpr size_t kShortestMisspelt = 5;
constexpr size_t kMostMisspelt = 8;  // unknown words looked for; bounds the work of a long question
constexpr size_t kNear = 4;          // words apart at most to count as close
constexpr size_t kFewHits = 6;       // fewer have no middling candidate to compare with
constexpr size_t kLongestName = 3;   // content words of a title that can be named in passing

// Letters of scripts without spaces that join and ask rather than name.
bool is_grammar(char32_t c) {
  static constexpr std::u32string_view kHan =
      U"\u4F55\u8AB0\u8C01\u4EC0\u4E48\u9EBC\u600E\u54EA\u662F\u7684\u4E86\u5417\u55CE\u5462\u5728"
      U"\u4E0E\u8207\u6211\u4F60\u60A8\u5B83\u8FD9\u9019\u90A3\u4E5F\u5C31";
  return text::is_hiragana(c) || kHan.find(c) != std::u32string_view::npos;
}

// The letters of a word of a script without spaces, at most two; empty for other words.
std::u32string unspaced_letters(std::string_view word) {
  std::u32string letters;
  for (size_t at = 0; at < word.size();) {
    const char32_t c = text::next_code_point(word, at);
    if (letters.empty() && !text::is_unspaced(c)) return {};
    if (!text::is_mark(c)) letters += c;
  }
  return letters;
}

std::string utf8(char32_t c) {
  std::string out;
  text::append_utf8(out, c);
  return out;
}

bool overlap(const text::Word& first, const text::Word& second) { return second.begin < first.end; }

// What the pair words[i] adds to the content of a question; empty for nothing.
std::string content_of_pair(const std::vector<text::Word>& words, size_t i) {
  const auto carries = [&](size_t at) {
    const std::u32string letters = unspaced_letters(words[at].text);
    return !letters.empty() && std::none_of(letters.begin(), letters.end(), is_grammar);
  };
  if (carries(i)) return words[i].text;
  const std::u32string letters = unspaced_letters(words[i].text);
  for (const char32_t c : letters) {
    if (is_grammar(c)) continue;
    // A neighbour that carries content holds this letter already.
    const bool first = c == letters.front();
    const bool held =
        first ? i > 0 && overlap(words[i - 1], words[i]) && carries(i - 1)
              : i + 1 < words.size() && overlap(words[i], words[i + 1]) && carries(i + 1);
    if (held) return {};
    return text::is_han(c) ? utf8(c) : std::string();
  }
  return {};
}

using Places = std::map<std::string, std::vector<size_t>, std::less<>>;  // term -> word positions

// The terms of one field of a chunk, limited to those the question asks for.
struct Field {
  Places places;
  std::map<char, std::vector<std::string>> words;  // folded, by first byte, for misspellings
};

struct Wanted {
  std::set<std::string, std::less<>> terms;
  std::set<char> initials;  // stemming never changes the first byte, so others need no stemming
  std::set<char> misspelt;  // first bytes of words to look for misspelt: few people miss the first
  bool letters = false;     // single letters of a script without spaces are among the terms
};

bool may_be_misspelt(const QuestionTerm& word) {
  return !word.known && word.word.size() >= kShortestMisspelt;
}

Wanted wanted_of(const Question& question) {
  Wanted wanted;
  size_t unknown = 0;
  for (const QuestionTerm& word : question.words) {
    if (word.term.empty()) continue;
    wanted.terms.insert(word.term);
    wanted.initials.insert(word.term.front());
    wanted.letters = wanted.letters || unspaced_letters(word.term).size() == 1;
    if (!may_be_misspelt(word)) continue;
    wanted.misspelt.insert(word.word.front());
    ++unknown;
  }
  if (unknown > kMostMisspelt) wanted.misspelt.clear();
  return wanted;
}

// Notes the letters of words[i] that are wanted by themselves. Pairs overlap: the second letter is
// left to the pair that begins with it, if there is one.
void note_letters(const std::vector<text::Word>& words, size_t i, const Wanted& wanted,
                  Field& field) {
  std::u32string letters = unspaced_letters(words[i].text);
  if (letters.size() < 2) return;
  if (i + 1 < words.size() && overlap(words[i], words[i + 1])) letters.resize(1);
  for (const char32_t c : letters)
    if (std::string letter = utf8(c); wanted.terms.contains(letter))
      field.places[std::move(letter)].push_back(i + 1);
}

Field read_field(std::string_view text, const Wanted& wanted) {
  Field field;
  size_t position = 0;
  std::vector<text::Word> all = text::words(text);
  if (wanted.letters)
    for (size_t i = 0; i < all.size(); ++i) note_letters(all, i, wanted, field);
  for (text::Word& word : all) {
    ++position;
    if (word.text.empty() || !wanted.initials.contains(word.text.front())) continue;
    const std::string term = text::stem(word.text);
    if (wanted.terms.contains(term)) field.places[term].push_back(position);
    if (!wanted.misspelt.contains(word.text.front())) continue;
    const char initial = word.text.front();
    field.words[initial].push_back(std::move(word.text));
  }
  for (auto& [initial, words] : field.words) {
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
  }
  return field;
}

// Whether the field has a word that an unknown one most likely meant.
bool resembles(const QuestionTerm& word, const Field& field) {
  if (!may_be_misspelt(word)) return false;
  const auto words = field.words.find(word.word.front());
  return words != field.words.end() && !nearest(word.word, words->second).empty();
}

struct Met {
  double heading = 0;
  double anywhere = 0;
};

Met meet(const QuestionTerm& word, const Field& heading, const Field& body) {
  const auto in_body = body.places.find(word.term);
  const size_t mentions = in_body == body.places.end() ? 0 : in_body->second.size();
  Met met;
  met.heading = heading.places.contains(word.term) ? 1.0
                : resembles(word, heading)         ? kMisspelt
                                                   : 0.0;
  if (mentions > 0)
    met.anywhere = mentions >= 3 ? kInBodyOften : kInBody;
  else if (resembles(word, body))
    met.anywhere = kInBody * kMisspelt;
  met.anywhere = std::max(met.anywhere, met.heading);
  return met;
}

bool close(const Places& places, const std::string& first, const std::string& second) {
  const auto a = places.find(first);
  const auto b = places.find(second);
  if (a == places.end() || b == places.end()) return false;
  for (size_t i = 0, j = 0; i < a->second.size() && j < b->second.size();) {
    const size_t at = a->second[i];
    const size_t other = b->second[j];
    if (std::max(at, other) - std::min(at, other) <= kNear) return true;
    ++(at < other ? i : j);
  }
  return false;
}

double closeness(const Question& question, const Field& heading, const Field& body,
                 double coverage) {
  // A single word has no neighbour to be close to: how well it is met stands in.
  if (question.words.size() < 2) return coverage;
  double met = 0;
  double all = 0;
  for (size_t i = 1; i < question.words.size(); ++i) {
    const QuestionTerm& a = question.words[i - 1];
    const QuestionTerm& b = question.words[i];
    const double weight = a.weight + b.weight;
    all += weight;
    if (close(heading.places, a.term, b.term) || close(body.places, a.term, b.term)) met += weight;
  }
  return met / all;
}

std::string heading_of(const Chunk& chunk) {
  std::string text = chunk.title + "\n" + chunk.section + "\n" + chunk.slug;
  for (const std::string& tag : chunk.tags) text += "\n" + tag;
  return text;
}

Features measure_one(const Question& question, const Wanted& wanted, const Chunk& chunk) {
  const std::string heading_text = heading_of(chunk);
  const Field heading = read_field(heading_text, wanted);
  const Field body = read_field(chunk.content, wanted);
  double all = 0;
  double anywhere = 0;
  double in_heading = 0;
  for (const QuestionTerm& word : question.words) {
    const Met met = meet(word, heading, body);
    all += word.weight;
    anywhere += word.weight * met.anywhere;
    in_heading += word.weight * met.heading;
  }
  if (!question.compounds.empty()) {
    const std::vector<std::string> in_title = text::terms(heading_text);
    const std::vector<std::string> in_content = text::terms(chunk.content);
    for (const QuestionTerm& compound : question.compounds) {
      const bool title = std::count(in_title.begin(), in_title.end(), compound.term) > 0;
      const auto mentions = std::count(in_content.begin(), in_content.end(), compound.term);
      all += compound.weight;
      in_heading += title ? compound.weight : 0;
      anywhere += compound.weight * (title           ? 1.0
                                     : mentions >= 3 ? kInBodyOften
                                     : mentions > 0  ? kInBody
                                                     : 0.0);
    }
  }

  Features features{};
  if (all <= 0) return features;
  features[kCoverage] = anywhere / all;
  features[kHeading] = in_heading / all;
  features[kClose] = closeness(question, heading, body, features[kCoverage]);
  features[kEvidence] = 1.0 - std::exp(-anywhere);
  return features;
}

// Cosines of different embedders live on different scales; what an embedder gives to a middling
// candidate is its idea of no relation.
double middling(std::span<const Hit> hits) {
  if (hits.size() < kFewHits) return 0;
  std::vector<double> cosines;
  for (const Hit& hit : hits) cosines.push_back(hit.cosine);
  const auto middle = cosines.begin() + static_cast<std::ptrdiff_t>(cosines.size() / 2);
  std::nth_element(cosines.begin(), middle, cosines.end());
  return std::clamp(*middle, 0.0, 0.99);
}

}  // namespace

Question parse_question(std::string_view query) {
  Question question;
  std::set<std::string> seen;
  const auto take = [&](std::string word) {
    std::string term = text::stem(word);
    if (seen.insert(term).second) question.words.push_back({std::move(word), std::move(term)});
  };
  const std::vector<text::Word> words = text::words(query);
  const std::vector<bool> is_wrapping = scaffolding(words);
  question.foreign = is_foreign(words);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (text::is_stop_word(word) || is_wrapping[i]) continue;
    if (unspaced_letters(word).empty())
      take(word);
    else if (std::string content = content_of_pair(words, i); !content.empty())
      take(std::move(content));
  }
  if (question.words.empty())
    for (const text::Word& word : words)
      if (!unspaced_letters(word.text).empty()) take(word.text);

  for (const text::Word& word : words) seen.insert(text::stem(word.text));
  for (std::string& term : text::terms(query))
    if (unspaced_letters(term).empty() && seen.insert(term).second)
      question.compounds.push_back({{}, std::move(term)});
  return question;
}

void weigh(Question& question, uint64_t chunks, std::span<const uint64_t> frequencies) {
  const size_t words = question.words.size();
  std::vector<QuestionTerm> compounds;
  for (size_t i = 0; i < words + question.compounds.size() && i < frequencies.size(); ++i) {
    QuestionTerm& term = i < words ? question.words[i] : question.compounds[i - words];
    term.known = chunks == 0 || frequencies[i] > 0;
    if (chunks > 0) term.weight = search::idf(chunks, frequencies[i]) / search::idf(chunks, 0);
    if (i >= words && term.known) compounds.push_back(term);
  }
  question.compounds = std::move(compounds);
  // What the site lacks are not the function words of another language.
  if (question.foreign)
    std::erase_if(question.words, [](const QuestionTerm& word) {
      return !word.known && text::is_foreign_stop_word(word.word);
    });
}

std::vector<Features> measure(const Question& question, std::span<const Hit> hits) {
  if (question.words.empty() && question.compounds.empty())
    return std::vector<Features>(hits.size(), Features{});
  const Wanted wanted = wanted_of(question);
  const double base = middling(hits);
  std::vector<Features> all;
  for (const Hit& hit : hits) {
    Features features = measure_one(question, wanted, hit.chunk);
    features[kSense] = std::clamp((hit.cosine - base) / (1.0 - base), 0.0, 1.0);
    all.push_back(features);
  }
  return all;
}

bool names(const Question& question, std::string_view title) {
  const std::vector<QuestionTerm> name = parse_question(title).words;
  if (name.empty() || name.size() > kLongestName) return false;
  return std::all_of(name.begin(), name.end(), [&](const QuestionTerm& part) {
    return std::any_of(question.words.begin(), question.words.end(),
                       [&](const QuestionTerm& word) { return word.term == part.term; });
  });
}

}  // namespace stoka::rerank
