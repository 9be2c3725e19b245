// Making untrusted text harmless inside the prompt's own markup.
#pragma once

#include <string>
#include <string_view>

namespace stoka::prompt {

// For an attribute value: & < > " as entities, line breaks as spaces.
std::string attribute(std::string_view untrusted);

}  // namespace stoka::prompt
