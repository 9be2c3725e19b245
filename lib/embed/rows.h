// Answers of embedding servers, read into rows of numbers. What is wrong with an answer comes back
// as the end of a sentence: "sent something that is not JSON".
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "embed/vectors_check.h"

namespace stoka::embed {

// text-embeddings-inference: [[0.1, …], …] in the order of the texts.
tl::expected<Rows, std::string> read_bare_rows(std::string_view body);

// OpenAI: {"data":[{"index":0,"embedding":[0.1, …]}, …]}, in any order; without any index in that
// of the texts. An embedding may be base64 of little-endian floats.
tl::expected<Rows, std::string> read_indexed_rows(std::string_view body);

}  // namespace stoka::embed
