// Character references of HTML and XML: decoding them in content, and escaping text for the markup
// of prompts and citation tags. Pure, thread safe.
#pragma once

#include <string>
#include <string_view>

namespace stoka::text {

// Replaces numeric character references and the common named ones with their characters. An unknown
// name ("R&D", "&unknown;") stays as it is. A number that is no code point becomes U+FFFD. The
// result is valid UTF-8 if the text is.
std::string decode_entities(std::string_view text);

// Appends the character, and writes & < > as entities.
void append_escaped(std::string& out, char c);

// Returns the text for an attribute in double quotes: & < > " become entities, and line breaks and
// tabs become spaces.
std::string escape_attribute(std::string_view text);

}  // namespace stoka::text
