// HTML character references.
#pragma once

#include <string>
#include <string_view>

namespace stoka::text {

// Replaces numeric references (&#39; &#x2019;) and the named ones that people and models write
// (&quot; &mdash;). Text that is not a reference ("R&D", "&unknown;") does not change. A number
// that is not a code point becomes U+FFFD. The result is valid UTF-8 if the text is.
std::string decode_entities(std::string_view text);

}  // namespace stoka::text
