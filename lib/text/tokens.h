// Estimating the tokens of a language model. Pure, thread safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace stoka::text {

// The estimated number of tokens: a little more than byte-pair encodings need for English (within
// about 15 % on prose and code), and one for each CJK character. The estimate of a text is never
// less than that of a part of it.
size_t estimate_tokens(std::string_view text);

}  // namespace stoka::text
