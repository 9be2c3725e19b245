#include "eval/sentence.h"

namespace stoka::eval {

std::vector<Sentence> spoken_sentences(const Answer& answer) {
  return sentences_of(without_quotations(without_code(answer.text())));
}

}  // namespace stoka::eval
