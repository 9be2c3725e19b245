#include "cite/sentence_gate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "text/characters.h"
#include "text/sentences.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::cite {
namespace {

// A quotation of at least so many words must occur in what was retrieved; a shorter one need not.
constexpr size_t kMinCheckedQuotation = 3;
// A sentence that repeats a question of fewer words is kept, because the question may be a name.
constexpr size_t kMinRepeatedWords = 4;
// Text of more bytes than this is judged like a sentence even if no sentence ends in it.
constexpr size_t kMaxHeldBytes = 1200;

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> out;
  for (text::Word& word : text::words(text)) out.push_back(std::move(word.text));
  return out;
}

// Whether the text has a character at which a sentence can end.
bool has_stop(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const char32_t c = text::next_code_point(text, at);
    if (c == '.' || c == '!' || c == '?' || c == '\n' || !is_ascii(c)) return true;
  }
  return false;
}

// Whether a double quotation mark in the text is not closed.
bool is_quotation_open(std::string_view text) {
  size_t straight = 0, opened = 0, closed = 0;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = text::next_code_point(text, at);
    straight += c == '"';
    opened += c == 0x201C;
    closed += c == 0x201D;
  }
  return straight % 2 == 1 || opened > closed;
}

}  // namespace

SentenceGate::SentenceGate(Grounds grounds, const GuardRules& rules, std::string_view query,
                           TextSink sink, Interventions* interventions)
    : grounds_(std::move(grounds)),
      common_names_(rules.phrases, "common_name"),
      question_(words_in(query)),
      sink_(std::move(sink)),
      interventions_(*interventions) {
  for (const std::string& name : rules.forbidden)
    forbidden_.emplace_back(name, PhraseList(rules.phrases, name));
}

void SentenceGate::push(std::string_view text) {
  held_ += text;
  may_end_ = may_end_ || has_stop(text);
  if (may_end_) judge_complete_sentences();
  while (held_.size() > kMaxHeldBytes) {
    size_t end = held_.rfind(' ', kMaxHeldBytes);
    if (end == std::string::npos || end == 0) end = text::floor_char_boundary(held_, kMaxHeldBytes);
    judge(held_.substr(0, end));
    held_.erase(0, end);
  }
}

// Judges all sentences of the held text but the last, which may continue. A quotation is judged as
// a whole.
void SentenceGate::judge_complete_sentences() {
  const std::vector<text::Span> sentences = text::sentences(held_);
  size_t judged = 0;
  for (size_t i = 0; i + 1 < sentences.size(); ++i) {
    const std::string_view piece =
        std::string_view(held_).substr(judged, sentences[i].end - judged);
    if (is_quotation_open(piece)) continue;
    judge(piece);
    judged = sentences[i].end;
  }
  if (judged == 0) return;
  held_.erase(0, judged);
  may_end_ = has_stop(held_);
}

void SentenceGate::judge_rest() {
  judge_complete_sentences();
  const size_t end = held_.find_last_not_of(" \n") + 1;  // 0 if there is only white space
  if (end > 0) judge(std::string_view(held_).substr(0, end));
  held_.erase(0, end);
  may_end_ = false;
}

void SentenceGate::mark_citation() {
  judge_rest();
  if (has_output_ && !held_.empty()) sink_(held_);
  held_.clear();
  sentences_ = 0;
  is_cutting_ = has_output_ = false;
}

void SentenceGate::allow(const Citation& citation) { grounds_.add(citation); }

void SentenceGate::finish() {
  judge_rest();
  held_.clear();
}

// Releases or drops a sentence with the white space before it.
void SentenceGate::judge(std::string_view piece) {
  const std::string_view sentence = trimmed(piece);
  const size_t count = text::count_sentences(sentence);
  if (count == 0) return release(piece);
  if (auto found = forbidden(sentence))
    return record(interventions_, InterventionKind::forbidden, *found);
  if (auto found = unsupported(sentence))
    return record(interventions_, InterventionKind::unsupported, *found);
  if (sentences_ + count > kMaxSentences && count > 1) {  // the first ones may fit
    if (const std::vector<text::Span> parts = text::sentences(piece); parts.size() > 1) {
      size_t judged = 0;
      for (const text::Span& part : parts) {
        judge(piece.substr(judged, part.end - judged));
        judged = part.end;
      }
      return;
    }
  }
  is_cutting_ = is_cutting_ || sentences_ + count > kMaxSentences;
  if (is_cutting_) {
    return record(interventions_, InterventionKind::cut,
                  fmt::format("more than {} sentences without a citation", kMaxSentences), count);
  }
  sentences_ += count;
  release(piece);
}

void SentenceGate::release(std::string_view piece) {
  if (!has_output_) piece = piece.substr(std::min(piece.find_first_not_of(" \n"), piece.size()));
  if (piece.empty() || is_cutting_) return;
  has_output_ = true;
  sink_(piece);
}

std::optional<std::string> SentenceGate::unsupported(std::string_view sentence) const {
  const auto say = [](std::string_view what, const std::string& claim) {
    return fmt::format("{} '{}' was not retrieved", what, claim);
  };
  if (auto found = grounds_.unknown_number(sentence)) return say("number or date", *found);
  if (auto found = grounds_.unknown_term(sentence)) return say("term", *found);
  if (auto found = grounds_.unknown_quotation(sentence, kMinCheckedQuotation))
    return say("quotation", *found);
  if (auto found = grounds_.unknown_name(sentence, common_names_)) return say("name", *found);
  return std::nullopt;
}

std::optional<std::string> SentenceGate::forbidden(std::string_view sentence) const {
  const std::vector<Sentence> spoken = sentences_of(without_quotations(without_code(sentence)));
  for (const auto& [name, phrases] : forbidden_) {
    for (const Sentence& part : spoken)
      if (auto found = phrases.find(part)) return fmt::format("{}: '{}'", name, *found);
  }
  if (question_.size() >= kMinRepeatedWords) {
    const std::vector<std::string> words = words_in(sentence);
    if (std::search(words.begin(), words.end(), question_.begin(), question_.end()) != words.end())
      return "echo: the whole question";
  }
  return std::nullopt;
}

}  // namespace stoka::cite
