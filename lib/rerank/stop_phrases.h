// Stop phrases: words of a question that say how it is asked, not what it is about. Pure functions.
#pragma once

#include <vector>

#include "text/words.h"

namespace stoka::rerank {

// For each word of a question, whether it belongs to a stop phrase: "interested", "please", "what
// do you think about", "as bullet points". Ordinary stop words are not marked.
std::vector<bool> find_stop_phrases(const std::vector<text::Word>& words);

// Whether a question is not in English: it has at least two stop words of another language, and
// more of those than English stop words.
bool is_foreign(const std::vector<text::Word>& words);

}  // namespace stoka::rerank
