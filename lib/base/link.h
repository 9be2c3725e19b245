// Addresses on the web. What a document or a server gives as its address is untrusted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoka {

// Every byte becomes %XX, except ASCII letters, digits and the characters in `plain`.
std::string percent_encoded(std::string_view bytes, std::string_view plain);

// Whether it begins with http:// or https:// and a host.
bool is_web_url(std::string_view text);

// The most bytes of a link. Some terminals ignore longer ones.
inline constexpr size_t kMostLink = 2048;

// The address in a form that may be linked, or an empty string. An http or https URL stays as it
// is; a path ("/blog/x") goes below `site`, or stays a path if there is no site. Everything else is
// refused: "javascript:…", "//host", control characters, more than kMostLink bytes. What a URL may
// not contain is percent-encoded, so the result is printable ASCII without spaces.
std::string safe_link(std::string_view address, std::string_view site);

}  // namespace stoka
