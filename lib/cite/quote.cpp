#include "cite/quote.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "text/code_lines.h"
#include "text/normalize.h"
#include "text/pull_quote.h"
#include "text/sentences.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::cite {

namespace {

using text::Span;
using text::Word;

constexpr size_t kMinWords = 3;
constexpr size_t kMinSimilarWords = 4;
constexpr size_t kMaxSentenceWords = 120;  // a run of more words is not prose
constexpr size_t kMaxQuoteWords = 400;     // more words than fit into a tag
constexpr int kUnknownWord = -1;

// The words of the model's quote as numbers, so that comparing words is cheap.
struct QuoteWords {
  std::vector<int> ids;  // equal words have equal numbers
  std::map<std::string, int, std::less<>> numbers;
  std::vector<bool> content;        // whether the word with this number is a content word
  size_t content_words = 0;         // the number of distinct content words
  std::vector<std::string> probes;  // the ASCII content words, for may_contain()

  int number(std::string_view word) const {
    const auto found = numbers.find(word);
    return found == numbers.end() ? kUnknownWord : found->second;
  }
};

QuoteWords quote_words(std::string_view quote) {
  QuoteWords out;
  for (const Word& word : text::words(quote)) {
    if (out.ids.size() == kMaxQuoteWords) break;
    const auto [at, is_new] = out.numbers.emplace(word.text, static_cast<int>(out.numbers.size()));
    out.ids.push_back(at->second);
    if (!is_new) continue;
    out.content.push_back(!text::is_stop_word(word.text));
    if (!out.content.back()) continue;
    ++out.content_words;
    if (to_lower(quote.substr(word.begin, word.end - word.begin)) == word.text) {
      out.probes.push_back(word.text);
    }
  }
  return out;
}

// A cheap test whether a chunk contains enough of the quote's words to be worth tokenising.
bool may_contain(std::string_view chunk, const QuoteWords& quote) {
  const std::string lowered = to_lower(chunk);
  size_t missing = 0;
  for (const std::string& probe : quote.probes) missing += lowered.find(probe) == std::string::npos;
  const auto allowed = (1 - kMinSimilarity) * static_cast<double>(quote.content_words);
  return static_cast<double>(missing) <= allowed;
}

// The words and sentences of a run of prose.
struct Passage {
  std::string_view content;
  std::vector<Span> words;
  std::vector<int> ids;  // the numbers of the words in QuoteWords, or kUnknownWord
  std::vector<Span> sentences;

  Passage(std::string_view text, const QuoteWords& quote)
      : content(text), sentences(text::sentences(text)) {
    for (const Word& word : text::words(text)) {
      words.push_back({word.begin, word.end});
      ids.push_back(quote.number(word.text));
    }
  }
  // The range [first, last) of the words that begin between two byte offsets.
  std::pair<size_t, size_t> words_in(const Span& bytes) const {
    const auto begins_before = [](const Span& word, size_t at) { return word.begin < at; };
    const auto first = std::lower_bound(words.begin(), words.end(), bytes.begin, begins_before);
    const auto last = std::lower_bound(first, words.end(), bytes.end, begins_before);
    return {first - words.begin(), last - words.begin()};
  }
  // The range [first, last) of the sentences that overlap the bytes between two offsets.
  std::pair<size_t, size_t> sentences_of(const Span& bytes) const {
    size_t first = 0;
    while (first < sentences.size() && sentences[first].end <= bytes.begin) ++first;
    size_t last = first;
    while (last < sentences.size() && sentences[last].begin < bytes.end) ++last;
    return {first, last};
  }
  std::string squeezed(const Span& bytes) const {
    return text::collapse_whitespace(bytes.in(content));
  }
};

constexpr std::string_view kOpeningMarks[] = {"(", "[", "\"", "'", "\u201C", "\u2018", "\u00AB"};
constexpr std::string_view kClosingMarks[] = {")", "]", "\"", "'", "\u201D", "\u2019", "\u00BB"};
constexpr std::string_view kConnectors[] = {",", ";", ":", "\u2014", "\u2013", "-",      "*",
                                            "_", "(", "[", "{",      "\u201C", "\u2018", "\u00AB"};

// The words [first, last) and the punctuation that belongs to them at both ends ("$5", "c++", a
// full stop), but without punctuation that leads on to text that is not quoted and without half of
// a pair.
Span with_punctuation(const Passage& passage, size_t first, size_t last) {
  const std::string_view content = passage.content;
  Span out{passage.words[first].begin, passage.words[last - 1].end};
  const size_t floor = first > 0 ? passage.words[first - 1].end : 0;
  const size_t ceiling = last < passage.words.size() ? passage.words[last].begin : content.size();
  size_t begin = out.begin;
  while (begin > floor && !is_ascii_space(content[begin - 1])) --begin;
  if (begin == 0 || is_ascii_space(content[begin - 1])) out.begin = begin;
  size_t end = out.end;
  while (end < ceiling && !is_ascii_space(content[end])) ++end;
  if (end == content.size() || is_ascii_space(content[end])) out.end = end;

  const size_t word_end = passage.words[last - 1].end;
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view connector : kConnectors) {
      if (out.end < word_end + connector.size() || !out.in(content).ends_with(connector)) continue;
      out.end -= connector.size();
      again = true;
    }
  }
  for (size_t i = 0; i < std::size(kOpeningMarks); ++i) {
    std::string_view inside = out.in(content);
    if (inside.starts_with(kOpeningMarks[i]) &&
        inside.find(kClosingMarks[i], kOpeningMarks[i].size()) == std::string_view::npos) {
      out.begin += kOpeningMarks[i].size();
    }
    inside = out.in(content);
    const bool closes =
        out.end >= word_end + kClosingMarks[i].size() && inside.ends_with(kClosingMarks[i]);
    if (closes &&
        inside.substr(0, inside.size() - kClosingMarks[i].size()).find(kOpeningMarks[i]) ==
            std::string_view::npos) {
      out.end -= kClosingMarks[i].size();
    }
  }
  return out;
}

std::optional<Span> find_words(const Passage& passage, const QuoteWords& quote) {
  const auto found =
      std::search(passage.ids.begin(), passage.ids.end(), quote.ids.begin(), quote.ids.end());
  if (found == passage.ids.end()) return {};
  const auto first = static_cast<size_t>(found - passage.ids.begin());
  return with_punctuation(passage, first, first + quote.ids.size());
}

// Returns as many whole sentences as fit into a quote. The first is that in which `bytes` begins.
std::string whole_sentences(const Passage& passage, const Span& bytes) {
  const auto [first, last] = passage.sentences_of(bytes);
  if (first == last) return std::string(text::clip(passage.squeezed(bytes), text::kMaxQuoteLength));
  std::string out = passage.squeezed(passage.sentences[first]);
  for (size_t i = first + 1; i < last; ++i) {
    std::string longer =
        passage.squeezed({passage.sentences[first].begin, passage.sentences[i].end});
    if (text::count_code_points(longer) > text::kMaxQuoteLength) break;
    out = std::move(longer);
  }
  return std::string(text::clip(out, text::kMaxQuoteLength));
}

VerifiedQuote from_match(const Passage& passage, const Span& bytes, std::string_view model_quote,
                         size_t quote_words) {
  if (quote_words < kMinWords) return {whole_sentences(passage, bytes), VerifiedQuote::repaired};
  std::string own = passage.squeezed(bytes);
  if (text::count_code_points(own) > text::kMaxQuoteLength) {
    return {whole_sentences(passage, bytes), VerifiedQuote::repaired};
  }
  // A difference in the punctuation at the end does not count as a repair.
  const std::string model = text::fold(model_quote);
  const std::string actual = text::fold(own);
  const bool same = actual.starts_with(model) || model.starts_with(actual);
  return {std::move(own), same ? VerifiedQuote::verbatim : VerifiedQuote::repaired};
}

// The length of the longest common subsequence of two short sequences.
size_t common_subsequence(const std::vector<int>& a, const std::vector<int>& b) {
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

// The similarity of the sentences to the quote: the share of the quote's words that they contain in
// order (recall), plus the Dice coefficient of the two word sequences. 0 if neither reaches
// kMinSimilarity or the sentences have too few of the quote's content words.
double similarity(const Passage& passage, const Span& bytes, const QuoteWords& quote) {
  const auto [first, last] = passage.words_in(bytes);
  if (last - first > kMaxSentenceWords) return 0;
  std::vector<int> known;
  std::vector<bool> seen(quote.content.size(), false);
  size_t content = 0;
  for (size_t i = first; i < last; ++i) {
    const int id = passage.ids[i];
    if (id == kUnknownWord) continue;
    known.push_back(id);
    const auto at = static_cast<size_t>(id);
    if (quote.content[at] && !seen[at]) ++content;
    seen[at] = true;
  }
  const auto quote_length = static_cast<double>(quote.ids.size());
  const auto min_content =
      static_cast<size_t>(kMinSimilarity * static_cast<double>(quote.content_words));
  if (known.empty() || content == 0 || content < min_content) return 0;
  const auto shared = static_cast<double>(common_subsequence(quote.ids, known));
  const double recall = shared / quote_length;
  const double dice = 2 * shared / (quote_length + static_cast<double>(last - first));
  return std::max(recall, dice) >= kMinSimilarity ? recall + dice : 0;
}

Candidate most_similar(const Passage& passage, const QuoteWords& quote) {
  Candidate best;
  const auto& sentences = passage.sentences;
  for (size_t i = 0; i < sentences.size(); ++i) {
    for (size_t j = i; j < std::min(i + 2, sentences.size()); ++j) {
      const Span bytes{sentences[i].begin, sentences[j].end};
      if (const double score = similarity(passage, bytes, quote); score > best.score) {
        best = {bytes, score};
      }
    }
  }
  return best;
}

// A run of prose of a chunk. Quotes are looked for in prose only, because code is not quoted as a
// sentence.
struct ProseRun {
  std::string_view text;
  bool cited = false;  // whether the run is part of the cited chunk
};

void add_prose(std::string_view chunk, bool cited, std::vector<ProseRun>& out) {
  for (const text::Segment& stretch : text::split_code(chunk)) {
    if (!stretch.is_code) out.push_back({stretch.text, cited});
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

  std::vector<ProseRun> runs;
  for (const size_t i : order) add_prose(document_chunks[i], i == cited_chunk, runs);

  const QuoteWords quote = quote_words(model_quote);
  const bool is_specific = quote.content_words > 0 || quote.ids.size() >= kMinWords;
  if (is_specific) {
    VerifiedQuote similar;
    double score = 0;
    for (const ProseRun& run : runs) {
      if (!run.cited && !may_contain(run.text, quote)) continue;
      const Passage passage(run.text, quote);
      if (const auto bytes = find_words(passage, quote)) {
        VerifiedQuote found = from_match(passage, *bytes, model_quote, quote.ids.size());
        if (text::is_quotable(found.quote)) return found;
      }
      if (quote.ids.size() < kMinSimilarWords) continue;
      if (const Candidate found = most_similar(passage, quote); found.score > score) {
        similar = {whole_sentences(passage, found.bytes), VerifiedQuote::repaired};
        score = found.score;
      }
    }
    if (score > 0 && text::is_quotable(similar.quote)) return similar;
  }
  for (const size_t i : order) {
    std::string sentence = text::best_sentence(document_chunks[i], query);
    if (!sentence.empty()) return {std::move(sentence), VerifiedQuote::replaced};
  }
  return {};
}

}  // namespace stoka::cite
