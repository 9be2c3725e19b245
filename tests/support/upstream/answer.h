// What passes between the parts of the fake server: a request, and what is to be sent for it.
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

struct Ask {
  std::string method;
  std::string target;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  nlohmann::json json;  // of the body; discarded when it is none

  std::string path() const { return target.substr(0, target.find('?')); }
  std::string header(const std::string& name) const {
    auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

inline constexpr size_t kForEver = std::numeric_limits<size_t>::max();

struct Part {
  std::string bytes;
  std::string text = {};  // what of the answer's text is in it, in a stream
  size_t times = 1;
};

struct Answer {
  enum class Head { whole, half, none };
  enum class End {
    whole,        // as HTTP wants it
    whole_close,  // and then the connection is closed without a word
    close,
    reset,
    hang,
  };

  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::vector<Part> parts = {};
  bool stream = false;   // chunked, a part a chunk, with the behaviour's pauses between
  bool chunked = false;  // without pauses
  size_t missing = 0;    // bytes that Content-Length says too many
  Head head = Head::whole;
  End end = End::whole;

  static Answer json(const nlohmann::json& body, int status = 200) {
    Answer out;
    out.status = status;
    out.parts.push_back(
        {body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), {}, 1});
    return out;
  }
  static Answer text(std::string body, int status, std::string content_type = "text/plain") {
    Answer out;
    out.status = status;
    out.content_type = std::move(content_type);
    out.parts.push_back({std::move(body), {}, 1});
    return out;
  }
};

// JSON that no JSON library writes: these, as whole strings or in them, become NaN, halves of
// surrogate pairs, and bytes that are no UTF-8.
inline constexpr std::string_view kNan = "@@nan@@";
inline constexpr std::string_view kHigh = "@@high@@";
inline constexpr std::string_view kLow = "@@low@@";
inline constexpr std::string_view kLone = "@@lone@@";
inline constexpr std::string_view kBytes = "@@bytes@@";
std::string spoil(std::string json);

}  // namespace stoka::testing
