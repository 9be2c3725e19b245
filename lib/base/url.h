// Web addresses. An address that comes from a document or a server is untrusted input.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoka {

// Replaces every byte with %XX, except ASCII letters, digits and the characters in `plain`.
std::string percent_encode(std::string_view bytes, std::string_view plain);

// Whether the text begins with http:// or https:// and a host.
bool is_http_url(std::string_view text);

// The parts of a URL, or of a path of the site. Query and fragment are left out.
struct UrlParts {
  std::string_view host;  // the host with its port; empty for a path of the site
  std::string_view path;  // the path; may be empty
};
UrlParts split_url(std::string_view url);

// Returns the canonical path of a page or URL: without scheme, host, query, fragment, index.html
// and a slash at the end. The root is "/"; an empty page stays empty.
std::string page_path(std::string_view page);

// Returns the slug at the end of a page or URL: "some-post" for "/blog/some-post/?x#y", an empty
// string for "/".
std::string page_slug(std::string_view page);

// The maximum length of a link in bytes. Some terminals ignore longer links.
inline constexpr size_t kMaxLinkBytes = 2048;

// Returns the address in a form that is safe to use as a link, or an empty string if there is none.
// An http or https URL stays as it is. A path ("/blog/x") is appended to `site`, or stays a path if
// `site` is not a web address. Everything else is refused: "javascript:…", "//host", control
// characters, more than kMaxLinkBytes. Characters that a URL may not contain are percent-encoded,
// so the result is printable ASCII without spaces.
std::string safe_link(std::string_view address, std::string_view site);

}  // namespace stoka
