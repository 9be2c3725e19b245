// Text in the encoding of western Windows, which Latin-1 and ASCII are part of.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stoka::text {

// The bytes as UTF-8, if they read as Windows-1252 and not as UTF-8: at least one byte is invalid
// in UTF-8, hardly any sequence of several bytes is valid (else it is UTF-8 with damage), under 5 %
// of the bytes are not ASCII, none of them one that Windows-1252 leaves undefined, and none is NUL.
std::optional<std::string> from_windows_1252(std::string_view bytes);

}  // namespace stoka::text
