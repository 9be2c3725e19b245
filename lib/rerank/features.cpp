#include "rerank/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/suggestion.h"
#include "search/bm25.h"
#include "text/characters.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::rerank {
namespace {

// Scores of matches, relative to a match in the title.
constexpr double kInBody = 0.75;      // score of a word that occurs once or twice in the body
constexpr double kInBodyOften = 0.9;  // score of a word that occurs three times or more in the body
constexpr double kMisspelt = 0.8;     // factor for a word that only resembles the question's word
constexpr size_t kMinMisspeltBytes = 5;
// If a question has more unknown words than this, none of them is compared with similar words. The
// limit bounds the work for a long question.
constexpr size_t kMaxMisspelt = 8;
constexpr size_t kMaxDistance = 4;    // distance in words up to which two words count as close
constexpr size_t kMinHits = 6;        // the fewest hits with which the median cosine is used
constexpr size_t kMaxTitleWords = 3;  // content words of a title that a question can name, at most

// Stop phrases are words of a question that say how it is asked, not what it is about.
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

// For each word of a question, whether it belongs to a stop phrase: "interested", "please", "what
// do you think about", "as bullet points". Ordinary stop words are not marked.
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

// Whether a question is not in English: it has at least two stop words of another language, and
// more of those than English stop words.
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

// Whether a letter of a script without spaces is grammatical: part of particles, question words and
// pronouns, not of names.
bool is_grammatical(char32_t c) {
  static constexpr std::u32string_view kHan =
      U"\u4F55\u8AB0\u8C01\u4EC0\u4E48\u9EBC\u600E\u54EA\u662F\u7684\u4E86\u5417\u55CE\u5462\u5728"
      U"\u4E0E\u8207\u6211\u4F60\u60A8\u5B83\u8FD9\u9019\u90A3\u4E5F\u5C31";
  return text::is_hiragana(c) || kHan.find(c) != std::u32string_view::npos;
}

// The letters (at most two) of a word in a script without spaces; empty for other words.
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

bool do_overlap(const text::Word& first, const text::Word& second) {
  return second.begin < first.end;
}

// The content word for the letter pair words[i]: the pair, a single letter of it, or empty.
std::string content_of_pair(const std::vector<text::Word>& words, size_t i) {
  const auto has_content = [&](size_t at) {
    const std::u32string letters = unspaced_letters(words[at].text);
    return !letters.empty() && std::none_of(letters.begin(), letters.end(), is_grammatical);
  };
  if (has_content(i)) return words[i].text;
  const std::u32string letters = unspaced_letters(words[i].text);
  for (const char32_t c : letters) {
    if (is_grammatical(c)) continue;
    // Pairs overlap, so a neighbouring pair with content may have this letter already.
    const bool is_first = c == letters.front();
    const bool is_covered =
        is_first ? i > 0 && do_overlap(words[i - 1], words[i]) && has_content(i - 1)
                 : i + 1 < words.size() && do_overlap(words[i], words[i + 1]) && has_content(i + 1);
    if (is_covered) return {};
    return text::is_han(c) ? utf8(c) : std::string();
  }
  return {};
}

// For each term the positions of its words in the text, ascending.
using Positions = std::map<std::string, std::vector<size_t>, std::less<>>;

// The parts of a chunk's field that matter for the question.
struct Field {
  Positions positions;
  // Folded words by their first byte, for finding words that are similar to an unknown one.
  std::map<char, std::vector<std::string>> words;
};

// What read_field() searches for in a text.
struct WantedTerms {
  std::set<std::string, std::less<>> terms;
  // First bytes of the terms. Stemming never changes the first byte, so words with other first
  // bytes need not be stemmed.
  std::set<char> initials;
  // First bytes of words that may be misspelt. A misspelling is assumed to keep the first byte.
  std::set<char> misspelt;
  bool letters = false;  // the terms include single letters of a script without spaces
};

bool may_be_misspelt(const QuestionTerm& word) {
  return !word.known && word.word.size() >= kMinMisspeltBytes;
}

WantedTerms wanted_terms(const Question& question) {
  WantedTerms wanted;
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
  if (unknown > kMaxMisspelt) wanted.misspelt.clear();
  return wanted;
}

// Records the positions of the single letters of words[i] that are wanted. Since pairs overlap, the
// second letter is left to the next pair if that begins with it.
void record_letters(const std::vector<text::Word>& words, size_t i, const WantedTerms& wanted,
                    Field& field) {
  std::u32string letters = unspaced_letters(words[i].text);
  if (letters.size() < 2) return;
  if (i + 1 < words.size() && do_overlap(words[i], words[i + 1])) letters.resize(1);
  for (const char32_t c : letters)
    if (std::string letter = utf8(c); wanted.terms.contains(letter))
      field.positions[std::move(letter)].push_back(i + 1);
}

Field read_field(std::string_view text, const WantedTerms& wanted) {
  Field field;
  size_t position = 0;
  std::vector<text::Word> all = text::words(text);
  if (wanted.letters)
    for (size_t i = 0; i < all.size(); ++i) record_letters(all, i, wanted, field);
  for (text::Word& word : all) {
    ++position;
    if (word.text.empty() || !wanted.initials.contains(word.text.front())) continue;
    const std::string term = text::stem(word.text);
    if (wanted.terms.contains(term)) field.positions[term].push_back(position);
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

// Whether the word is unknown and the field has a word of which it is probably a misspelling.
bool has_similar_word(const QuestionTerm& word, const Field& field) {
  if (!may_be_misspelt(word)) return false;
  const auto words = field.words.find(word.word.front());
  return words != field.words.end() && !closest_match(word.word, words->second).empty();
}

// How well one word of the question matches, from 0 to 1.
struct Match {
  double heading = 0;
  double anywhere = 0;
};

Match match_word(const QuestionTerm& word, const Field& heading, const Field& body) {
  const auto in_body = body.positions.find(word.term);
  const size_t mentions = in_body == body.positions.end() ? 0 : in_body->second.size();
  Match match;
  match.heading = heading.positions.contains(word.term) ? 1.0
                  : has_similar_word(word, heading)     ? kMisspelt
                                                        : 0.0;
  if (mentions > 0)
    match.anywhere = mentions >= 3 ? kInBodyOften : kInBody;
  else if (has_similar_word(word, body))
    match.anywhere = kInBody * kMisspelt;
  match.anywhere = std::max(match.anywhere, match.heading);
  return match;
}

bool are_close(const Positions& positions, const std::string& first, const std::string& second) {
  const auto a = positions.find(first);
  const auto b = positions.find(second);
  if (a == positions.end() || b == positions.end()) return false;
  for (size_t i = 0, j = 0; i < a->second.size() && j < b->second.size();) {
    const size_t at = a->second[i];
    const size_t other = b->second[j];
    if (std::max(at, other) - std::min(at, other) <= kMaxDistance) return true;
    ++(at < other ? i : j);
  }
  return false;
}

double closeness(const Question& question, const Field& heading, const Field& body,
                 double coverage) {
  // A single word has no neighbour, so its coverage is used instead.
  if (question.words.size() < 2) return coverage;
  double close = 0;
  double all = 0;
  for (size_t i = 1; i < question.words.size(); ++i) {
    const QuestionTerm& a = question.words[i - 1];
    const QuestionTerm& b = question.words[i];
    const double weight = a.weight + b.weight;
    all += weight;
    if (are_close(heading.positions, a.term, b.term) || are_close(body.positions, a.term, b.term))
      close += weight;
  }
  return close / all;
}

std::string heading_text(const Chunk& chunk) {
  std::string text = chunk.title + "\n" + chunk.section + "\n" + chunk.slug;
  for (const std::string& tag : chunk.tags) text += "\n" + tag;
  return text;
}

Features measure_one(const Question& question, const WantedTerms& wanted, const Chunk& chunk) {
  const std::string headings = heading_text(chunk);
  const Field heading = read_field(headings, wanted);
  const Field body = read_field(chunk.content, wanted);
  double all = 0;
  double anywhere = 0;
  double in_heading = 0;
  for (const QuestionTerm& word : question.words) {
    const Match match = match_word(word, heading, body);
    all += word.weight;
    anywhere += word.weight * match.anywhere;
    in_heading += word.weight * match.heading;
  }
  if (!question.compounds.empty()) {
    const std::vector<std::string> in_title = text::terms(headings);
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
  features[kProximity] = closeness(question, heading, body, features[kCoverage]);
  features[kEvidence] = 1.0 - std::exp(-anywhere);
  return features;
}

// The median of the cosines, or 0 if there are few hits. Embedders differ in the scale of their
// cosines; the median stands for the cosine of an unrelated chunk.
double median_cosine(std::span<const Hit> hits) {
  if (hits.size() < kMinHits) return 0;
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
  const auto add = [&](std::string word) {
    std::string term = text::stem(word);
    if (seen.insert(term).second) question.words.push_back({std::move(word), std::move(term)});
  };
  const std::vector<text::Word> words = text::words(query);
  const std::vector<bool> in_stop_phrase = find_stop_phrases(words);
  question.foreign = is_foreign(words);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (text::is_stop_word(word) || in_stop_phrase[i]) continue;
    if (unspaced_letters(word).empty())
      add(word);
    else if (std::string content = content_of_pair(words, i); !content.empty())
      add(std::move(content));
  }
  if (question.words.empty())
    for (const text::Word& word : words)
      if (!unspaced_letters(word.text).empty()) add(word.text);

  for (const text::Word& word : words) seen.insert(text::stem(word.text));
  for (std::string& term : text::terms(query))
    if (unspaced_letters(term).empty() && seen.insert(term).second)
      question.compounds.push_back({{}, std::move(term)});
  return question;
}

void weight_terms(Question& question, uint64_t chunks, std::span<const uint64_t> frequencies) {
  const size_t words = question.words.size();
  std::vector<QuestionTerm> compounds;
  for (size_t i = 0; i < words + question.compounds.size() && i < frequencies.size(); ++i) {
    QuestionTerm& term = i < words ? question.words[i] : question.compounds[i - words];
    term.known = chunks == 0 || frequencies[i] > 0;
    if (chunks > 0) term.weight = search::idf(chunks, frequencies[i]) / search::idf(chunks, 0);
    if (i >= words && term.known) compounds.push_back(term);
  }
  question.compounds = std::move(compounds);
  // Stop words of a question in another language are not counted as topics that the site lacks.
  if (question.foreign)
    std::erase_if(question.words, [](const QuestionTerm& word) {
      return !word.known && text::is_foreign_stop_word(word.word);
    });
}

std::vector<Features> compute_features(const Question& question, std::span<const Hit> hits) {
  if (question.words.empty() && question.compounds.empty())
    return std::vector<Features>(hits.size(), Features{});
  const WantedTerms wanted = wanted_terms(question);
  const double base = median_cosine(hits);
  std::vector<Features> all;
  for (const Hit& hit : hits) {
    Features features = measure_one(question, wanted, hit.chunk);
    features[kSimilarity] = std::clamp((hit.cosine - base) / (1.0 - base), 0.0, 1.0);
    all.push_back(features);
  }
  return all;
}

bool names_document(const Question& question, std::string_view title) {
  const std::vector<QuestionTerm> name = parse_question(title).words;
  if (name.empty() || name.size() > kMaxTitleWords) return false;
  return std::all_of(name.begin(), name.end(), [&](const QuestionTerm& part) {
    return std::any_of(question.words.begin(), question.words.end(),
                       [&](const QuestionTerm& word) { return word.term == part.term; });
  });
}

}  // namespace stoka::rerank
