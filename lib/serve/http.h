// A request as it was read and a response as it will be written. Plain; who reads and writes them
// is request_reader.h and connection.h.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoka::serve {

struct Request {
  std::string method;  // "POST"
  std::string path;    // of the target, before '?'; not decoded
  std::string query;   // after it
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
  int minor = 1;  // of HTTP/1.x
  bool keep_alive = true;

  // The first of that name (lower case); empty if there is none.
  std::string_view header(std::string_view name) const;
  std::vector<std::string_view> all(std::string_view name) const;
  // The first parameter of that name in the query, decoded; nothing in it is an error.
  std::string parameter(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string_view, std::string>> headers = {};
  bool close = false;  // the connection is of no more use
};

// "%2Fblog+x" decoded: "/blog x".
std::string percent_decoded(std::string_view text);

// Status line and headers up to the empty line. `length`: of the body; nothing: chunked.
enum class Framing { sized, chunked, until_close };
std::string response_head(const Response& response, Framing framing, size_t length,
                          bool keep_alive);

}  // namespace stoka::serve
