#pragma once

#include <string>
#include <string_view>

namespace stoka::ingest {

// Character references: numeric ones and the named ones that people write. Unknown names stay as
// they are, a number that is no character becomes U+FFFD.
std::string decode_entities(std::string_view text);

}  // namespace stoka::ingest
