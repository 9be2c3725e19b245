// What the turns of a conversation have said before, so that no line and no quote comes twice.
// Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "eval/answer.h"
#include "eval/case.h"
#include "eval/phrases.h"

namespace stoka::eval {

// The lines of the voice in an answer, folded: its sentences outside of citations. These are not
// lines of the voice: fixed replies (of a canned route, or in the list `fixed_line`), sentences of
// one or two words, and sentences with a text of `must_say`, which are the answer itself.
std::vector<std::string> voice_lines(const Answer& answer, const Case& turn,
                                     const Phrases& phrases);

// The citations, each one as a text that consists of its slug and its quote.
std::vector<std::string> cited_quotes(const Answer& answer);

struct ConversationMemory {
  std::set<std::string> lines;
  std::set<std::string> quotes;

  void add(const Answer& answer, const Case& turn, const Phrases& phrases);
};

}  // namespace stoka::eval
