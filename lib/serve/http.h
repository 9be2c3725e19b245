// An HTTP request and response as plain data, and the body of an error. RequestReader parses
// requests, Connection sends responses.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace stoka::serve {

struct HttpRequest {
  std::string method;  // the method, e.g. "POST"
  std::string path;    // the target before '?', not percent-decoded
  std::string query;   // the target after '?', not percent-decoded
  std::vector<std::pair<std::string, std::string>> headers;  // header names are in lower case
  std::string body;
  int minor_version = 1;  // the x of HTTP/1.x
  bool keep_alive = true;

  // Returns the first header with the given name (in lower case), or an empty text.
  std::string_view header(std::string_view name) const;
  std::vector<std::string_view> header_values(std::string_view name) const;
  // Returns the first query parameter with the given name, decoded, or an empty text. Any query can
  // be decoded.
  std::string parameter(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string_view, std::string>> headers = {};
  bool close = false;  // the connection is closed after this response
};

// Decodes a part of a query string: "%2Fblog+x" is "/blog x".
std::string percent_decoded(std::string_view text);

// How the client recognises the end of the body.
enum class Framing { sized, chunked, until_close };
// The status line and headers, up to and including the empty line. `length` is the length of the
// body and is used only with Framing::sized.
std::string response_head(const HttpResponse& response, Framing framing, size_t length,
                          bool keep_alive);

// The body of an error, problem details (RFC 9457):
// {"type":"about:blank","title":"Bad Request","status":400,"code":"usage","detail":"…",
//  "hint":"…","field":"scroll_pct","request_id":"…"} on one line. Hint and field are left out if
// they are empty. The result is valid UTF-8 even if the arguments are not. The content type is
// application/problem+json.
std::string problem_details_json(int status, const Error& error, std::string_view field,
                                 std::string_view request_id);

// Returns the value of the header Retry-After, which every 503 and no other status has: the time
// that a model server asked for, or a default.
std::optional<std::chrono::seconds> retry_after(const Error& error);

}  // namespace stoka::serve
