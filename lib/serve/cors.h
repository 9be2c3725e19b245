// Which sites may read our answers in a browser: Cross-Origin Resource Sharing, as the Fetch
// standard (https://fetch.spec.whatwg.org/#http-cors-protocol) has it. Never with credentials.
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

  // Exact origins ("https://example.com", "http://localhost:4321"), or "*" alone for any. Upper
  // case and the default port do not matter here. Without origins no other site may read anything.
  // Config errors say what to write.
  static Result<Cors> make(const std::vector<std::string>& allowed_origins);

  // Of an Origin header, in the one form that browsers send. "null" and no header at all ("") are
  // allowed only where any origin is.
  bool allows(std::string_view origin) const;
  // For every answer but that to a preflight.
  Headers headers(std::string_view origin) const;
  // For the 204 that answers OPTIONS with Origin, Access-Control-Request-Method and
  // Access-Control-Request-Headers ("": none). Nothing if it is not allowed.
  std::optional<Headers> preflight(std::string_view origin, std::string_view requested_method,
                                   std::string_view requested_headers) const;

 private:
  Headers origin_headers(std::string_view origin) const;

  bool any_ = false;
  std::set<std::string, std::less<>> origins_;
};

}  // namespace stoka::serve
