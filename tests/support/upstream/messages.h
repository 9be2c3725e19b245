// A request to the fake server, and the response that it sends.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/json.h"

namespace stoka::testing {

struct FakeRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  nlohmann::json json;  // the parsed body; discarded if the body is not JSON

  std::string path() const { return target.substr(0, target.find('?')); }
  std::string header(const std::string& name) const {
    auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

inline constexpr size_t kEndless = std::numeric_limits<size_t>::max();

struct Part {
  std::string bytes;
  std::string text = {};  // in a stream: the text of the answer that is in these bytes
  size_t times = 1;
};

struct FakeResponse {
  enum class Head { whole, half, none };
  enum class End {
    whole,        // complete, and the connection stays open
    whole_close,  // complete, and the connection is closed without notice
    close,
    reset,
    hang,
  };

  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::vector<Part> parts = {};
  bool stream =
      false;  // chunked, one chunk for each part, with the behaviour's pauses between them
  bool chunked = false;  // chunked without pauses
  size_t missing = 0;    // by how many bytes Content-Length is too large
  Head head = Head::whole;
  End end = End::whole;

  static FakeResponse json(const nlohmann::json& body, int status = 200) {
    FakeResponse out;
    out.status = status;
    out.parts.push_back(
        {body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), {}, 1});
    return out;
  }
  static FakeResponse text(std::string body, int status, std::string content_type = "text/plain") {
    FakeResponse out;
    out.status = status;
    out.content_type = std::move(content_type);
    out.parts.push_back({std::move(body), {}, 1});
    return out;
  }
};

// Placeholders for what a JSON library does not write. insert_malformed() replaces them, as whole
// strings or within strings, with NaN, halves of surrogate pairs, and bytes that are not UTF-8.
inline constexpr std::string_view kNan = "@@nan@@";
inline constexpr std::string_view kHigh = "@@high@@";
inline constexpr std::string_view kLow = "@@low@@";
inline constexpr std::string_view kLone = "@@lone@@";
inline constexpr std::string_view kBytes = "@@bytes@@";
std::string insert_malformed(std::string json);

}  // namespace stoka::testing
