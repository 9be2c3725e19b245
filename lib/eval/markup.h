#pragma once

#include <string>
#include <string_view>

namespace stoka::eval {

// Any bytes as the text of XML or HTML, or of an attribute in double quotes: invalid UTF-8 becomes
// U+FFFD, what XML forbids and what reorders the text around it is removed, line ends are LF.
std::string escaped(std::string_view text);

}  // namespace stoka::eval
