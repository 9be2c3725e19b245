// What people wrap a question in, so that it is not taken for what they ask about. Pure.
#pragma once

#include <vector>

#include "text/words.h"

namespace stoka::rerank {

// Which words of a question, stop words aside, say only how it is asked: "interested", "please",
// "what do you think about", "as bullet points".
std::vector<bool> scaffolding(const std::vector<text::Word>& words);

// Whether a question is in another language: at least two of its function words are of one, and
// more than are English.
bool is_foreign(const std::vector<text::Word>& words);

}  // namespace stoka::rerank
