// What the NEVER list forbids, as predicates over an answer. They match words, count sentences as a
// reader does, and fail only for cause: "nothing" is no "hi", "v2.1" ends no sentence. Pure.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eval/answer.h"

namespace stoka::eval {

// The phrases that predicates look for, by predicate. Of evals/phrases.toml.
using Phrases = std::map<std::string, std::vector<std::string>, std::less<>>;

// A config error with its line for what is no list of phrases.
Result<Phrases> read_phrases(std::string_view toml);

struct Predicate {
  std::string_view name;     // as `fail_if` spells it
  std::vector<int> never;    // items of the NEVER list, 1..15
  std::string_view meaning;  // "greets the visitor"
  // Why it holds, for people ("opens with 'hello'"); nothing if the answer is free of it.
  std::optional<std::string> (*holds)(const Answer& answer, const Phrases& phrases);
};

// greeting 1, flattery 2, sycophancy 3, apology 4, summary 5, exclamation 6, emoji 7, list 8,
// repeat 9, long 10, energy 11, alternatives 12, echo 13, ungrounded 14, invented 15.
std::span<const Predicate> predicates();
const Predicate* find_predicate(std::string_view name);  // null: there is none

// Whether a phrase stands in the text as whole words, in any case.
bool says(std::string_view text, std::string_view phrase);

// Most sentences that follow each other without a citation.
size_t longest_run(const Answer& answer);

}  // namespace stoka::eval
