#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "eval/holds.h"
#include "eval/prose.h"
#include "text/sentences.h"
#include "text/words.h"

namespace stoka::eval {
namespace {

struct Runs {
  size_t longest = 0;
  size_t before_cite = 0;  // the longest that a citation follows
  size_t all = 0;
};

Runs count(const Answer& answer) {
  Runs out;
  size_t run = 0;
  for (const Answer::Part& part : answer.parts) {
    if (part.citation) {
      out.before_cite = std::max(out.before_cite, run);
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

size_t longest_run(const Answer& answer) { return count(answer).longest; }

namespace holds {
namespace {

constexpr size_t kMostBeforeCite = 3;  // sentences; NEVER 10
constexpr size_t kMostInAll = 4;       // with a citation, as the longest golden exchange
constexpr size_t kLeastWords = 5;      // content words; fewer are shared by chance
constexpr double kRetold = 0.75;       // share of a sentence's content words that stand in a page

std::set<std::string> content(std::string_view text) {
  std::set<std::string> out;
  for (const text::Word& word : text::words(text)) {
    if (!text::is_stop_word(word.text)) out.insert(text::stem(word.text));
  }
  return out;
}

size_t retold_sentences(const Answer& answer) {
  std::map<std::string, std::set<std::string>, std::less<>> pages;
  for (const Hit& hit : answer.ranked) {
    auto& page = pages[hit.chunk.slug];
    page.merge(content(hit.chunk.content));
    page.merge(content(hit.chunk.title));
  }
  const std::string text = answer.text();
  size_t retold = 0;
  for (const text::Span& span : text::sentences(text)) {
    const std::string_view sentence = span.in(text);
    if (sentence.ends_with('?')) continue;
    const std::set<std::string> words = content(sentence);
    if (words.size() < kLeastWords) continue;
    retold += std::any_of(pages.begin(), pages.end(), [&](const auto& page) {
      const auto shared = std::count_if(words.begin(), words.end(), [&](const std::string& word) {
        return page.second.contains(word);
      });
      return static_cast<double>(shared) >= kRetold * static_cast<double>(words.size());
    });
  }
  return retold;
}

bool has_citation(const Answer& answer) {
  return std::any_of(answer.parts.begin(), answer.parts.end(),
                     [](const Answer::Part& part) { return part.citation.has_value(); });
}

}  // namespace

Reason summary(const Answer& answer, const Phrases&) {
  if (answer.canned()) return std::nullopt;
  const size_t sentences = count(answer).all;
  if (has_citation(answer)) {
    if (sentences <= kMostInAll) return std::nullopt;
    return fmt::format("{} sentences around its citations", sentences);
  }
  if (sentences > kMostBeforeCite) return fmt::format("{} sentences and no citation", sentences);
  const size_t retold = retold_sentences(answer);
  if (retold < 2) return std::nullopt;
  return fmt::format("{} sentences retell a page that is not cited", retold);
}

Reason repeat(const Answer& answer, const Phrases&) {
  std::set<std::string> shown = answer.shown_before;
  for (const Answer::Part& part : answer.parts) {
    if (part.citation && !shown.insert(part.citation->slug).second) {
      return fmt::format("cites {} again", part.citation->slug);
    }
  }
  return std::nullopt;
}

Reason too_long(const Answer& answer, const Phrases&) {
  if (answer.canned()) return std::nullopt;
  const Runs runs = count(answer);
  const size_t before = has_citation(answer) ? runs.before_cite : runs.all;
  if (before <= kMostBeforeCite) return std::nullopt;
  return fmt::format("{} sentences before a citation", before);
}

}  // namespace holds
}  // namespace stoka::eval
