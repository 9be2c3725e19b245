#pragma once

#include <string>
#include <string_view>

namespace stoka::cite {

// Character references of an attribute value resolved: &quot; &#39; &#x2019; and the named ones
// that models write. What is not one ("R&D", "&unknown;") stays as it is. An impossible code point
// becomes U+FFFD. The result is valid UTF-8 if the value is.
std::string decode_entities(std::string_view value);

}  // namespace stoka::cite
