#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "eval/predicates.h"
#include "text/normalize.h"
#include "text/sentences.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::eval {
namespace {

// Numbers of sentences. A run consists of the sentences between two citations.
struct SentenceCounts {
  size_t longest = 0;          // sentences in the longest run
  size_t before_citation = 0;  // sentences in the longest run that a citation follows
  size_t all = 0;
};

SentenceCounts count_sentences(const Answer& answer) {
  SentenceCounts out;
  size_t run = 0;
  for (const Answer::Part& part : answer.parts) {
    if (part.citation) {
      out.before_citation = std::max(out.before_citation, run);
      run = 0;
    } else {
      const size_t sentences = text::count_sentences(part.text);
      run += sentences;
      out.all += sentences;
      out.longest = std::max(out.longest, run);
    }
  }
  return out;
}

}  // namespace

size_t longest_run(const Answer& answer) { return count_sentences(answer).longest; }

namespace predicate {
namespace {

constexpr size_t kMaxSentencesBeforeCitation = 3;  // item 10 of the NEVER list
constexpr size_t kMaxSentencesWithCitation = 4;    // the golden exchanges have up to four
constexpr size_t kMinContentWords = 5;             // fewer words may be shared by chance
// The share of a sentence's content words that are on one page if the sentence retells it.
constexpr double kRetoldShare = 0.75;
constexpr size_t kMinQuestionWords = 4;         // a question of fewer words may be a name
constexpr size_t kMinQuestionContentWords = 3;  // any answer may repeat fewer words

// The stems of all words of a text that are not stop words.
std::set<std::string> distinct_stems(std::string_view text) {
  std::set<std::string> out;
  for (const text::Word& word : text::words(text)) {
    if (!text::is_stop_word(word.text)) out.insert(text::stem(word.text));
  }
  return out;
}

// The number of sentences, without questions, whose content words are mostly those of one page.
size_t retold_sentences(const Answer& answer) {
  std::map<std::string, std::set<std::string>, std::less<>> pages;
  for (const Hit& hit : answer.ranked) {
    auto& page = pages[hit.chunk.slug];
    page.merge(distinct_stems(hit.chunk.content));
    page.merge(distinct_stems(hit.chunk.title));
  }
  const std::string text = answer.text();
  size_t retold = 0;
  for (const text::Span& span : text::sentences(text)) {
    const std::string_view sentence = span.in(text);
    if (sentence.ends_with('?')) continue;
    const std::set<std::string> words = distinct_stems(sentence);
    if (words.size() < kMinContentWords) continue;
    retold += std::any_of(pages.begin(), pages.end(), [&](const auto& page) {
      const auto shared = std::count_if(words.begin(), words.end(), [&](const std::string& word) {
        return page.second.contains(word);
      });
      return static_cast<double>(shared) >= kRetoldShare * static_cast<double>(words.size());
    });
  }
  return retold;
}

bool has_citation(const Answer& answer) {
  return std::any_of(answer.parts.begin(), answer.parts.end(),
                     [](const Answer::Part& part) { return part.citation.has_value(); });
}

// The words of a text; words joined by a hyphen are separated.
std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> out;
  for (text::Word& word : text::words(text)) out.push_back(std::move(word.text));
  return out;
}

// The stems of the words that are not stop words, in the order of the words.
std::vector<std::string> stems_in_order(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    if (!text::is_stop_word(word)) out.push_back(text::stem(word));
  }
  return out;
}

bool contains_in_order(const std::vector<std::string>& wanted, const std::vector<std::string>& in) {
  size_t next = 0;
  for (const std::string& word : in) next += next < wanted.size() && word == wanted[next];
  return next == wanted.size();
}

// Whether the clause has all content words of the question in order, and at most `max_others` other
// content words.
bool restates(const std::vector<std::string>& asked, std::string_view clause, size_t max_others) {
  const std::vector<std::string> words = stems_in_order(plain_words(clause));
  if (!contains_in_order(asked, words)) return false;
  const std::set<std::string> known(asked.begin(), asked.end());
  const auto more = std::count_if(words.begin(), words.end(),
                                  [&](const std::string& word) { return !known.contains(word); });
  return static_cast<size_t>(more) <= max_others;
}

// The words between two punctuation marks, or the words of a whole sentence.
struct Clause {
  std::string words;
  bool is_question = false;
};

std::vector<Clause> clauses(const std::vector<Sentence>& sentences) {
  std::vector<Clause> out;
  for (const Sentence& sentence : sentences) {
    Clause whole{{}, sentence.is_question}, part;
    for (const Token& token : sentence.tokens) {
      if (token.punctuation != 0 && !part.words.empty()) out.push_back(std::exchange(part, {}));
      for (Clause* clause : {&whole, &part}) clause->words += token.raw + ' ';
    }
    if (part.words.size() < whole.words.size()) out.push_back(std::move(part));
    out.push_back(std::move(whole));
  }
  return out;
}

}  // namespace

Reason summary(const Answer& answer, const Phrases&) {
  if (answer.is_canned()) return std::nullopt;
  const size_t sentences = count_sentences(answer).all;
  if (has_citation(answer)) {
    if (sentences <= kMaxSentencesWithCitation) return std::nullopt;
    return fmt::format("{} sentences around its citations", sentences);
  }
  if (sentences > kMaxSentencesBeforeCitation)
    return fmt::format("{} sentences and no citation", sentences);
  const size_t retold = retold_sentences(answer);
  if (retold < 2) return std::nullopt;
  return fmt::format("{} sentences retell a page that is not cited", retold);
}

Reason repeat(const Answer& answer, const Phrases&) {
  std::set<std::string> shown = answer.shown_before;
  for (const Answer::Part& part : answer.parts) {
    // An inline citation shows another passage of a page, so it does not repeat the page's card.
    if (part.citation && part.citation->kind != CiteKind::inline_quote &&
        !shown.insert(part.citation->slug).second) {
      return fmt::format("cites {} again", part.citation->slug);
    }
  }
  return std::nullopt;
}

Reason too_long(const Answer& answer, const Phrases&) {
  if (answer.is_canned()) return std::nullopt;
  const SentenceCounts counts = count_sentences(answer);
  const size_t before = has_citation(answer) ? counts.before_citation : counts.all;
  if (before <= kMaxSentencesBeforeCitation) return std::nullopt;
  return fmt::format("{} sentences before a citation", before);
}

Reason echo(const Answer& answer, const Phrases& phrases) {
  if (auto found = find_phrase(spoken_sentences(answer), phrases, "echo")) {
    return fmt::format("says '{}'", *found);
  }
  const std::string prose = without_code(answer.text());
  const std::vector<std::string> question = plain_words(answer.query);
  const std::vector<std::string> asked = stems_in_order(question);
  if (question.size() >= kMinQuestionWords && !asked.empty()) {
    const std::vector<std::string> all = plain_words(prose);
    const auto whole = std::search(all.begin(), all.end(), question.begin(), question.end());
    if (whole != all.end()) return "repeats the whole question";
  }
  if (asked.size() < kMinQuestionContentWords) return std::nullopt;
  for (const Clause& clause : clauses(sentences_of(prose))) {
    if (restates(asked, clause.words, clause.is_question ? 1 : 0)) {
      return fmt::format("restates the question: '{}'", clipped(clause.words));
    }
  }
  return std::nullopt;
}

}  // namespace predicate
}  // namespace stoka::eval
