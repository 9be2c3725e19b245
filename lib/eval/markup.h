#pragma once

#include <string>
#include <string_view>

namespace stoka::eval {

// Escapes any bytes for the text of XML or HTML, or for an attribute in double quotes. Invalid
// UTF-8 becomes U+FFFD; characters that XML forbids and bidirectional controls are removed; line
// ends become LF.
std::string escape_markup(std::string_view text);

}  // namespace stoka::eval
