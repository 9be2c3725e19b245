#include "cite/quote.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "text/code_lines.h"
#include "text/normalize.h"
#include "text/quotable.h"
#include "text/sentences.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::cite {

namespace {

using text::Span;
using text::Word;

constexpr size_t kMinWords = 3;
constexpr size_t kMinNearMissWords = 4;
constexpr size_t kMaxSentenceWords = 120;  // longer ones are no sentences
constexpr size_t kMaxQuoteWords = 400;     // more than fit in a tag
constexpr int kForeign = -1;

// The model's quote as numbers: equal words have equal numbers.
struct Wanted {
  std::vector<int> ids;
  std::map<std::string, int, std::less<>> numbers;
  std::vector<bool> content;        // by number: not a stop word
  size_t content_words = 0;         // distinct
  std::vector<std::string> probes;  // plain ASCII words to look for before taking a chunk apart

  int number(std::string_view word) const {
    const auto found = numbers.find(word);
    return found == numbers.end() ? kForeign : found->second;
  }
};

std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return out;
}

Wanted wanted(std::string_view quote) {
  Wanted out;
  for (const Word& word : text::words(quote)) {
    if (out.ids.size() == kMaxQuoteWords) break;
    const auto [at, fresh] = out.numbers.emplace(word.text, static_cast<int>(out.numbers.size()));
    out.ids.push_back(at->second);
    if (!fresh) continue;
    out.content.push_back(!text::is_stop_word(word.text));
    if (!out.content.back()) continue;
    ++out.content_words;
    if (lower_ascii(quote.substr(word.begin, word.end - word.begin)) == word.text) {
      out.probes.push_back(word.text);
    }
  }
  return out;
}

bool may_hold(std::string_view chunk, const Wanted& quote) {
  const std::string lower = lower_ascii(chunk);
  size_t missing = 0;
  for (const std::string& probe : quote.probes) missing += lower.find(probe) == std::string::npos;
  const auto allowed = (1 - kNearMiss) * static_cast<double>(quote.content_words);
  return static_cast<double>(missing) <= allowed;
}

// A chunk taken apart.
struct Passage {
  std::string_view content;
  std::vector<Span> words;
  std::vector<int> ids;  // of Wanted, or kForeign
  std::vector<Span> sentences;

  Passage(std::string_view text, const Wanted& quote)
      : content(text), sentences(text::sentences(text)) {
    for (const Word& word : text::words(text)) {
      words.push_back({word.begin, word.end});
      ids.push_back(quote.number(word.text));
    }
  }
  // Words [first, last) of the bytes.
  std::pair<size_t, size_t> words_in(const Span& bytes) const {
    const auto begins_before = [](const Span& word, size_t at) { return word.begin < at; };
    const auto first = std::lower_bound(words.begin(), words.end(), bytes.begin, begins_before);
    const auto last = std::lower_bound(first, words.end(), bytes.end, begins_before);
    return {first - words.begin(), last - words.begin()};
  }
  // Sentences [first, last) that touch the bytes.
  std::pair<size_t, size_t> sentences_of(const Span& bytes) const {
    size_t first = 0;
    while (first < sentences.size() && sentences[first].end <= bytes.begin) ++first;
    size_t last = first;
    while (last < sentences.size() && sentences[last].begin < bytes.end) ++last;
    return {first, last};
  }
  std::string squeezed(const Span& bytes) const { return text::squeeze(bytes.in(content)); }
};

constexpr std::string_view kOpeners[] = {"(", "[", "\"", "'", "\u201C", "\u2018", "\u00AB"};
constexpr std::string_view kClosers[] = {")", "]", "\"", "'", "\u201D", "\u2019", "\u00BB"};
constexpr std::string_view kJoints[] = {",", ";", ":", "\u2014", "\u2013", "-",      "*",
                                        "_", "(", "[", "{",      "\u201C", "\u2018", "\u00AB"};

// The signs that belong to the words at both ends ("$5", "c++", a full stop), without those that
// lead on to what is not quoted and without half of a pair.
Span with_signs(const Passage& passage, size_t first, size_t last) {
  const std::string_view content = passage.content;
  Span out{passage.words[first].begin, passage.words[last - 1].end};
  const size_t floor = first > 0 ? passage.words[first - 1].end : 0;
  const size_t ceiling = last < passage.words.size() ? passage.words[last].begin : content.size();
  size_t begin = out.begin;
  while (begin > floor && !is_white_space(content[begin - 1])) --begin;
  if (begin == 0 || is_white_space(content[begin - 1])) out.begin = begin;
  size_t end = out.end;
  while (end < ceiling && !is_white_space(content[end])) ++end;
  if (end == content.size() || is_white_space(content[end])) out.end = end;

  const size_t word_end = passage.words[last - 1].end;
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view joint : kJoints) {
      if (out.end < word_end + joint.size() || !out.in(content).ends_with(joint)) continue;
      out.end -= joint.size();
      again = true;
    }
  }
  for (size_t i = 0; i < std::size(kOpeners); ++i) {
    std::string_view inside = out.in(content);
    if (inside.starts_with(kOpeners[i]) &&
        inside.find(kClosers[i], kOpeners[i].size()) == std::string_view::npos) {
      out.begin += kOpeners[i].size();
    }
    inside = out.in(content);
    const bool closes = out.end >= word_end + kClosers[i].size() && inside.ends_with(kClosers[i]);
    if (closes && inside.substr(0, inside.size() - kClosers[i].size()).find(kOpeners[i]) ==
                      std::string_view::npos) {
      out.end -= kClosers[i].size();
    }
  }
  return out;
}

std::optional<Span> find_words(const Passage& passage, const Wanted& quote) {
  const auto found =
      std::search(passage.ids.begin(), passage.ids.end(), quote.ids.begin(), quote.ids.end());
  if (found == passage.ids.end()) return {};
  const auto first = static_cast<size_t>(found - passage.ids.begin());
  return with_signs(passage, first, first + quote.ids.size());
}

// Whole sentences from the one in which `bytes` begin, as many as fit.
std::string whole_sentences(const Passage& passage, const Span& bytes) {
  const auto [first, last] = passage.sentences_of(bytes);
  if (first == last) return std::string(text::clip(passage.squeezed(bytes), text::kMaxQuoteLength));
  std::string out = passage.squeezed(passage.sentences[first]);
  for (size_t i = first + 1; i < last; ++i) {
    std::string longer =
        passage.squeezed({passage.sentences[first].begin, passage.sentences[i].end});
    if (text::length(longer) > text::kMaxQuoteLength) break;
    out = std::move(longer);
  }
  return std::string(text::clip(out, text::kMaxQuoteLength));
}

VerifiedQuote from_match(const Passage& passage, const Span& bytes, std::string_view model_quote,
                         size_t quote_words) {
  if (quote_words < kMinWords) return {whole_sentences(passage, bytes), VerifiedQuote::repaired};
  std::string own = passage.squeezed(bytes);
  if (text::length(own) > text::kMaxQuoteLength) {
    return {whole_sentences(passage, bytes), VerifiedQuote::repaired};
  }
  // A full stop more or less at the end is no change of words.
  const std::string said = text::fold(model_quote);
  const std::string stands = text::fold(own);
  const bool same = stands.starts_with(said) || said.starts_with(stands);
  return {std::move(own), same ? VerifiedQuote::verbatim : VerifiedQuote::repaired};
}

// Longest common subsequence of two short sequences of numbers.
size_t common(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<size_t> row(b.size() + 1, 0);
  for (const int x : a) {
    size_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = x == b[j - 1] ? diagonal + 1 : std::max(row[j], row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

struct Candidate {
  Span bytes;
  double score = 0;
};

// How like the quote these sentences are; 0 if not like enough.
double likeness(const Passage& passage, const Span& bytes, const Wanted& quote) {
  const auto [first, last] = passage.words_in(bytes);
  if (last - first > kMaxSentenceWords) return 0;
  std::vector<int> known;
  std::vector<bool> seen(quote.content.size(), false);
  size_t content = 0;
  for (size_t i = first; i < last; ++i) {
    const int id = passage.ids[i];
    if (id == kForeign) continue;
    known.push_back(id);
    const auto at = static_cast<size_t>(id);
    if (quote.content[at] && !seen[at]) ++content;
    seen[at] = true;
  }
  const auto said = static_cast<double>(quote.ids.size());
  const auto least = static_cast<size_t>(kNearMiss * static_cast<double>(quote.content_words));
  if (known.empty() || content == 0 || content < least) return 0;
  const auto both = static_cast<double>(common(quote.ids, known));
  const double held = both / said;
  const double alike = 2 * both / (said + static_cast<double>(last - first));
  return std::max(held, alike) >= kNearMiss ? held + alike : 0;
}

Candidate nearest(const Passage& passage, const Wanted& quote) {
  Candidate best;
  const auto& sentences = passage.sentences;
  for (size_t i = 0; i < sentences.size(); ++i) {
    for (size_t j = i; j < std::min(i + 2, sentences.size()); ++j) {
      const Span bytes{sentences[i].begin, sentences[j].end};
      if (const double score = likeness(passage, bytes, quote); score > best.score) {
        best = {bytes, score};
      }
    }
  }
  return best;
}

// Prose of a chunk, in which quotes are looked for: code is not quoted as a sentence.
struct Prose {
  std::string_view text;
  bool cited = false;  // of the cited chunk
};

void add_prose(std::string_view chunk, bool cited, std::vector<Prose>& out) {
  for (const text::Stretch& stretch : text::split_code(chunk)) {
    if (!stretch.code) out.push_back({stretch.text, cited});
  }
}

}  // namespace

VerifiedQuote verify_quote(std::string_view model_quote,
                           std::span<const std::string_view> document_chunks, size_t cited_chunk,
                           std::string_view query) {
  std::vector<size_t> order;
  if (cited_chunk < document_chunks.size()) order.push_back(cited_chunk);
  for (size_t i = 0; i < document_chunks.size(); ++i) {
    if (i != cited_chunk) order.push_back(i);
  }

  std::vector<Prose> proses;
  for (const size_t i : order) add_prose(document_chunks[i], i == cited_chunk, proses);

  const Wanted quote = wanted(model_quote);
  const bool says_something = quote.content_words > 0 || quote.ids.size() >= kMinWords;
  if (says_something) {
    VerifiedQuote near;
    double score = 0;
    for (const Prose& prose : proses) {
      if (!prose.cited && !may_hold(prose.text, quote)) continue;
      const Passage passage(prose.text, quote);
      if (const auto bytes = find_words(passage, quote)) {
        VerifiedQuote found = from_match(passage, *bytes, model_quote, quote.ids.size());
        if (text::is_quotable(found.quote)) return found;
      }
      if (quote.ids.size() < kMinNearMissWords) continue;
      if (const Candidate found = nearest(passage, quote); found.score > score) {
        near = {whole_sentences(passage, found.bytes), VerifiedQuote::repaired};
        score = found.score;
      }
    }
    if (score > 0 && text::is_quotable(near.quote)) return near;
  }
  for (const size_t i : order) {
    std::string sentence = text::best_sentence(document_chunks[i], query);
    if (!sentence.empty()) return {std::move(sentence), VerifiedQuote::replaced};
  }
  return {};
}

}  // namespace stoka::cite
