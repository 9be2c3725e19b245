// Template languages in running text. Internal to prepare_markdown().
#pragma once

#include <string>
#include <string_view>

#include "ingest/prepare.h"

namespace stoka::ingest {

// Appends prose, which holds no code fence, without tags and marks of template languages. Code
// spans are not touched. Linear.
void strip_prose(std::string_view prose, Dialect dialect, std::string& out);

}  // namespace stoka::ingest
