#pragma once

#include <cstddef>
#include <string_view>

namespace stoka::text {

// Estimate of model tokens, a little on the high side of byte-pair encodings for English (within
// about 15 % on prose and code); CJK counts one a character. Additive: never less than a part's
// estimate.
size_t estimate_tokens(std::string_view text);

}  // namespace stoka::text
