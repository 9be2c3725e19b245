#include "eval/conversation.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/predicates.h"
#include "text/sentences.h"

namespace stoka::eval {
namespace {

constexpr size_t kMinLineWords = 3;

bool is_the_answer(std::string_view sentence, const Case& turn) {
  const auto said = [&](const std::string& text) { return says(sentence, text); };
  return std::any_of(turn.must_say.begin(), turn.must_say.end(), [&](const auto& any_of) {
    return std::any_of(any_of.begin(), any_of.end(), said);
  });
}

}  // namespace

std::vector<std::string> voice_lines(const Answer& answer, const Case& turn,
                                     const Phrases& phrases) {
  std::vector<std::string> out;
  if (answer.is_canned()) return out;
  const PhraseList fixed(phrases, "fixed_line");
  const std::string text = answer.text();
  for (const text::Span& span : text::sentences(text)) {
    const std::string_view sentence = span.in(text);
    const Sentence line{tokens(sentence), false};
    if (line.tokens.size() < kMinLineWords || fixed.find(line) || is_the_answer(sentence, turn))
      continue;
    std::string words;
    for (const Token& token : line.tokens) words += (words.empty() ? "" : " ") + token.word;
    out.push_back(std::move(words));
  }
  return out;
}

std::vector<std::string> cited_quotes(const Answer& answer) {
  std::vector<std::string> out;
  for (const Citation& citation : answer.citations())
    if (!citation.quote.empty())
      out.push_back(fmt::format("{}: \"{}\"", citation.slug, citation.quote));
  return out;
}

void ConversationMemory::add(const Answer& answer, const Case& turn, const Phrases& phrases) {
  for (std::string& line : voice_lines(answer, turn, phrases)) lines.insert(std::move(line));
  for (std::string& quote : cited_quotes(answer)) quotes.insert(std::move(quote));
}

}  // namespace stoka::eval
