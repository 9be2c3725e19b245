// The visible text of an answer as sentences of tokens. Predicates judge what the voice itself
// says, so code and quotations can be taken out first.
#pragma once

#include <vector>

#include "cite/spoken_text.h"
#include "eval/answer.h"

namespace stoka::eval {

using cite::code_spans;
using cite::collapse_repeats;
using cite::kPlaceholder;
using cite::quotations;
using cite::Sentence;
using cite::sentences_of;
using cite::Token;
using cite::tokens;
using cite::without_code;
using cite::without_quotations;

// The sentences of an answer whose code and quotations were taken out.
std::vector<Sentence> spoken_sentences(const Answer& answer);

}  // namespace stoka::eval
