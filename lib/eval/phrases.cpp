#include "eval/phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/toml.h"

namespace stoka::eval {
namespace {

constexpr std::string_view kFillerList = "filler";

constexpr auto kListNames = std::to_array<std::string_view>(
    {"filler", "greeting", "greeting_word", "greeting_next", "no_greeting", "flattery",
     "flattery_lead", "flattery_degree", "flattery_adjective", "flattery_noun", "flattery_next",
     "sycophancy", "apology", "energy", "emoticon", "alternatives", "echo", "common_name",
     "fixed_line"});

std::vector<std::string> phrase_words(std::string_view phrase) {
  std::vector<std::string> out;
  for (Token& token : tokens(phrase)) out.push_back(std::move(token.word));
  return out;
}

const std::vector<std::string>& list_of(const Phrases& phrases, std::string_view name) {
  static const std::vector<std::string> none;
  const auto found = phrases.find(name);
  return found == phrases.end() ? none : found->second;
}

bool is_same(const Token& token, const std::string& word, const std::string& collapsed) {
  return token.word == word || (!token.collapsed.empty() && token.collapsed == collapsed);
}

}  // namespace

Result<Phrases> read_phrases(std::string_view toml) {
  constexpr std::string_view kFile = "phrases.toml";
  auto entries = parse_toml(toml, kFile);
  if (!entries) {
    Error error = entries.error();
    error.kind = ErrorKind::config;
    return fail(std::move(error));
  }
  Phrases out;
  for (TomlEntry& entry : *entries) {
    if (std::find(kListNames.begin(), kListNames.end(), entry.key) == kListNames.end()) {
      return fail(ErrorKind::config,
                  fmt::format("{} line {}: unknown '{}'", kFile, entry.line, entry.key),
                  fmt::format("the lists are {}", fmt::join(kListNames, ", ")));
    }
    if (!entry.is_list) {
      return fail(ErrorKind::config,
                  fmt::format("{} line {}: '{}' is not a list", kFile, entry.line, entry.key),
                  fmt::format("write {} = [\"a phrase\"]", entry.key));
    }
    for (const std::string& phrase : entry.values) {
      if (entry.key != "emoticon" ? !phrase_words(phrase).empty() : !phrase.empty()) continue;
      return fail(
          ErrorKind::config,
          fmt::format("{} line {}: a phrase of '{}' has no word", kFile, entry.line, entry.key),
          "remove it");
    }
    out[entry.key] = std::move(entry.values);
  }
  return out;
}

PhraseList::PhraseList(const Phrases& phrases, std::string_view name)
    : fillers_(list_of(phrases, kFillerList)) {
  for (const std::string& given : list_of(phrases, name)) {
    Phrase phrase;
    phrase.sentence_start = given.starts_with('^');
    phrase.clause_start = given.starts_with(',');
    phrase.ends = given.ends_with('|');
    phrase.words = phrase_words(given);
    for (const std::string& word : phrase.words) phrase.collapsed.push_back(collapse_repeats(word));
    if (!phrase.words.empty()) phrases_.push_back(std::move(phrase));
  }
}

bool PhraseList::matches(const Phrase& phrase, const std::vector<Token>& tokens, size_t i) {
  if (tokens.size() - i < phrase.words.size()) return false;
  for (size_t n = 0; n < phrase.words.size(); ++n) {
    if (!is_same(tokens[i + n], phrase.words[n], phrase.collapsed[n])) return false;
  }
  return true;
}

bool PhraseList::is_in_position(const Phrase& phrase, const std::vector<Token>& tokens,
                                size_t i) const {
  if (phrase.ends && !is_phrase_end(tokens, i + phrase.words.size())) return false;
  if (!phrase.sentence_start && !phrase.clause_start) return true;
  const auto is_filler = [&](const Token& token) {
    return std::find(fillers_.begin(), fillers_.end(), token.word) != fillers_.end();
  };
  for (; i > 0; --i) {
    if (phrase.clause_start && tokens[i].punctuation != 0) return true;
    if (!is_filler(tokens[i - 1])) return false;
  }
  return true;
}

std::optional<std::string> PhraseList::find(const Sentence& sentence) const {
  for (size_t i = 0; i < sentence.tokens.size(); ++i) {
    for (const Phrase& phrase : phrases_) {
      if (matches(phrase, sentence.tokens, i) && is_in_position(phrase, sentence.tokens, i)) {
        return fmt::format("{}", fmt::join(phrase.words, " "));
      }
    }
  }
  return std::nullopt;
}

size_t PhraseList::match_length(const std::vector<Token>& tokens, size_t i) const {
  size_t longest = 0;
  if (i >= tokens.size()) return longest;
  for (const Phrase& phrase : phrases_) {
    if (matches(phrase, tokens, i)) longest = std::max(longest, phrase.words.size());
  }
  return longest;
}

bool PhraseList::contains(const Token& token) const {
  return std::any_of(phrases_.begin(), phrases_.end(), [&](const Phrase& phrase) {
    return phrase.words.size() == 1 && is_same(token, phrase.words[0], phrase.collapsed[0]);
  });
}

std::optional<std::string> find_phrase(const std::vector<Sentence>& sentences,
                                       const Phrases& phrases, std::string_view list) {
  const PhraseList wanted(phrases, list);
  for (const Sentence& sentence : sentences) {
    if (auto found = wanted.find(sentence)) return found;
  }
  return std::nullopt;
}

size_t count_fillers(const std::vector<Token>& tokens, const PhraseList& fillers) {
  size_t i = 0;
  while (i < tokens.size() && fillers.contains(tokens[i])) ++i;
  return i;
}

bool is_phrase_end(const std::vector<Token>& tokens, size_t i) {
  return i >= tokens.size() || tokens[i].punctuation != 0 || tokens[i].starts_line;
}

}  // namespace stoka::eval
