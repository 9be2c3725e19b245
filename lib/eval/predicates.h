// Predicates over an answer, one for each item of the NEVER list. They match whole words and count
// sentences as a reader does, so that "nothing" does not match "hi" and the dot in "v2.1" does not
// end a sentence. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/answer.h"
#include "eval/phrases.h"

namespace stoka::eval {

struct Predicate {
  std::string_view name;     // the name of the predicate as it is written in a case's `fail_if`
  std::vector<int> never;    // the items of the NEVER list, 1 to 15, that the predicate checks
  std::string_view meaning;  // what a matching answer does, e.g. "greets the visitor"
  // The reason why the answer matches, for people ("greets: 'hello'"); nullopt if it does not
  // match.
  std::optional<std::string> (*match)(const Answer& answer, const Phrases& phrases);
};

// All predicates, each with its item of the NEVER list: greeting 1, flattery 2, sycophancy 3,
// apology 4, summary 5, exclamation 6, emoji 7, list 8, repeat 9, long 10, energy 11,
// alternatives 12, echo 13, ungrounded 14, invented 15.
std::span<const Predicate> predicates();
const Predicate* find_predicate(std::string_view name);  // null if there is no such predicate

// Whether the text contains the phrase as whole words, ignoring case.
bool says(std::string_view text, std::string_view phrase);

// The beginning of a text, at most 80 bytes, for the reasons that predicates give.
std::string clipped(std::string_view text);

// The largest number of sentences between two citations.
size_t longest_run(const Answer& answer);

// The functions behind predicates(), by the file that defines them.
namespace predicate {

using Reason = std::optional<std::string>;

// The predicates that are defined in tone_predicates.cpp.
Reason greeting(const Answer& answer, const Phrases& phrases);
Reason flattery(const Answer& answer, const Phrases& phrases);
Reason sycophancy(const Answer& answer, const Phrases& phrases);
Reason apology(const Answer& answer, const Phrases& phrases);
Reason alternatives(const Answer& answer, const Phrases& phrases);
Reason energy(const Answer& answer, const Phrases& phrases);

// The predicates that are defined in format_predicates.cpp.
Reason exclamation(const Answer& answer, const Phrases& phrases);
Reason emoji(const Answer& answer, const Phrases& phrases);
Reason list(const Answer& answer, const Phrases& phrases);

// The predicates that are defined in content_predicates.cpp.
Reason summary(const Answer& answer, const Phrases& phrases);
Reason repeat(const Answer& answer, const Phrases& phrases);
Reason too_long(const Answer& answer, const Phrases& phrases);
Reason echo(const Answer& answer, const Phrases& phrases);

// The predicates that are defined in grounding_predicates.cpp.
Reason ungrounded(const Answer& answer, const Phrases& phrases);
Reason invented(const Answer& answer, const Phrases& phrases);

}  // namespace predicate
}  // namespace stoka::eval
