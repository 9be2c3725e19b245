// Writing text into the markup of prompts and citation tags.
#pragma once

#include <string>
#include <string_view>

namespace stoka::text {

// & < > as entities.
void append_escaped(std::string& out, char c);

// For an attribute in double quotes: & < > " as entities, line breaks and tabs as spaces.
std::string attribute_value(std::string_view text);

}  // namespace stoka::text
