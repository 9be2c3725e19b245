#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "eval/holds.h"
#include "eval/phrases.h"
#include "text/normalize.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::eval::holds {
namespace {

constexpr size_t kWholeQuestion = 4;    // words; a shorter question is a name
constexpr size_t kQuestionContent = 3;  // content words; fewer are named in any answer

// Words of a clause or a question, those joined by hyphens apart.
std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> out;
  for (text::Word& word : text::words(text)) out.push_back(std::move(word.text));
  return out;
}

std::vector<std::string> content(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    if (!text::is_stop_word(word)) out.push_back(text::stem(word));
  }
  return out;
}

bool holds_in_order(const std::vector<std::string>& wanted, const std::vector<std::string>& in) {
  size_t next = 0;
  for (const std::string& word : in) next += next < wanted.size() && word == wanted[next];
  return next == wanted.size();
}

// Whether it says what was asked and, but for so many words, nothing else.
bool restates(const std::vector<std::string>& asked, std::string_view said, size_t others) {
  const std::vector<std::string> words = content(plain_words(said));
  if (!holds_in_order(asked, words)) return false;
  const std::set<std::string> known(asked.begin(), asked.end());
  const auto more = std::count_if(words.begin(), words.end(),
                                  [&](const std::string& word) { return !known.contains(word); });
  return static_cast<size_t>(more) <= others;
}

// What stands between two signs, or a whole sentence.
struct Clause {
  std::string words;
  bool asks = false;
};

std::vector<Clause> clauses(const std::vector<Sentence>& sentences) {
  std::vector<Clause> out;
  for (const Sentence& sentence : sentences) {
    Clause whole{{}, sentence.asks}, part;
    for (const Token& token : sentence.tokens) {
      if (token.sign != 0 && !part.words.empty()) out.push_back(std::exchange(part, {}));
      for (Clause* clause : {&whole, &part}) clause->words += token.raw + ' ';
    }
    if (part.words.size() < whole.words.size()) out.push_back(std::move(part));
    out.push_back(std::move(whole));
  }
  return out;
}

// Whether a tag, or what is left of one, is in the text.
Reason leaked_tag(std::string_view text) {
  for (const std::string_view sign : {"<cite", "</cite", "&lt;cite", "[cite:", "[/cite"}) {
    if (text.find(sign) != std::string_view::npos) return fmt::format("shows '{}'", sign);
  }
  for (const std::string_view name : {"slug=", "quote="}) {
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
      const char before = at == 0 ? ' ' : text[at - 1];
      const size_t value = at + name.size();
      const bool quoted = value < text.size() && (text[value] == '"' || text[value] == '\'');
      if (quoted || before == ' ') return fmt::format("shows '{}'", name);
    }
  }
  size_t opened = std::string_view::npos;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool letter = at + 1 < text.size() && text[at + 1] >= 'a' && text[at + 1] <= 'z';
    if (text[at] == '<' && letter) opened = at;
    if (text.substr(at, 2) != "/>") continue;
    if (opened == std::string_view::npos) return "shows '/>'";
    opened = std::string_view::npos;
  }
  return std::nullopt;
}

}  // namespace

Reason echo(const Answer& answer, const Phrases& phrases) {
  if (auto found = find_phrase(spoken(answer), phrases, "echo")) {
    return fmt::format("says '{}'", *found);
  }
  const std::string said = without_code(answer.text());
  const std::vector<std::string> question = plain_words(answer.query);
  const std::vector<std::string> asked = content(question);
  if (question.size() >= kWholeQuestion && !asked.empty()) {
    const std::vector<std::string> all = plain_words(said);
    const auto whole = std::search(all.begin(), all.end(), question.begin(), question.end());
    if (whole != all.end()) return "repeats the whole question";
  }
  if (asked.size() < kQuestionContent) return std::nullopt;
  for (const Clause& clause : clauses(sentences_of(said))) {
    if (restates(asked, clause.words, clause.asks ? 1 : 0)) {
      return fmt::format("restates the question: '{}'",
                         clause.words.substr(0, text::floor_border(clause.words, 80)));
    }
  }
  return std::nullopt;
}

Reason invented(const Answer& answer, const Phrases&) {
  for (const Answer::Part& part : answer.parts) {
    if (!part.citation) continue;
    const std::string& slug = part.citation->slug;
    const bool known = std::any_of(answer.ranked.begin(), answer.ranked.end(),
                                   [&](const Hit& hit) { return hit.chunk.slug == slug; });
    if (!known) return fmt::format("cites {}, which was not retrieved", slug);
  }
  const std::string text = answer.text();
  // A tag in backticks is still a tag of ours; other markup in backticks is code.
  const std::string folded = text::fold(text);
  if (folded.find("<cite") != std::string::npos) return "shows '<cite'";
  return leaked_tag(text::fold(without_code(text)));
}

}  // namespace stoka::eval::holds
