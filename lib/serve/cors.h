// Cross-Origin Resource Sharing: which other sites may read responses in a browser. See
// https://fetch.spec.whatwg.org/#http-cors-protocol. Credentials are never allowed.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace stoka::serve {

class Cors {
 public:
  using Headers = std::vector<std::pair<std::string_view, std::string>>;

  // Takes exact origins ("https://example.com", "http://localhost:4321"), or "*" alone for any
  // origin. Case and an explicit default port do not matter. An empty list allows no other site. A
  // config error says what to write instead.
  static Result<Cors> make(const std::vector<std::string>& allowed_origins);

  // Whether the value of an Origin header is allowed; it is compared byte by byte. "null" and an
  // empty value (no header) are allowed only with "*".
  bool allows(std::string_view origin) const;
  // Returns the CORS headers of a response, except for the response to a preflight request.
  Headers headers(std::string_view origin) const;
  // Returns the headers of the response (204) to a preflight request with these values of Origin,
  // Access-Control-Request-Method and Access-Control-Request-Headers (empty: none), or nullopt if
  // the request is not allowed.
  std::optional<Headers> preflight(std::string_view origin, std::string_view requested_method,
                                   std::string_view requested_headers) const;

 private:
  Headers origin_headers(std::string_view origin) const;

  bool any_ = false;
  std::set<std::string, std::less<>> origins_;
};

}  // namespace stoka::serve
