// Parses requests with Boost.Beast, and checks what Beast leaves to its users. If two parsers could
// see the end of a request at different places, the request is refused and its connection closed,
// because such requests could be smuggled past a proxy.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http.h"

namespace stoka::serve {

struct RequestLimits {
  size_t max_head_bytes = 8u << 10;  // bytes of the head, including the request line
  size_t max_fields = 100;
  size_t max_body_bytes = 64u << 10;
};

// A parser of requests that accepts bytes in pieces of any size. Not thread safe.
class RequestReader {
 public:
  explicit RequestReader(RequestLimits limits = {});
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  enum class State {
    idle,      // no byte of a request has been received
    head,      // a part of the head has been received
    body,      // the head has been received, and perhaps a part of the body
    complete,  // a request is complete; take() returns it
    refused,   // the request is refused for the reason in refusal(); nothing more is read
  };

  // Adds received bytes, and parses up to the end of one request.
  State push(std::string_view bytes);
  State state() const { return state_; }

  // Whether the client waits for "100 Continue". Returns true at most once for each request.
  bool expects_continue();

  // Returns the complete request, without its trailers, and parses the bytes that were received
  // after it, which may change state().
  HttpRequest take();

  // The number of received bytes that are not parsed yet.
  size_t buffered() const { return buffer_.size(); }

  struct Refusal {
    int status = 400;
    std::string why;   // the reason in one line
    std::string hint;  // what to do next
  };
  const Refusal& refusal() const { return refusal_; }
  // The head of the request that is being read or was refused; empty until it was parsed.
  const HttpRequest& head() const { return request_; }

 private:
  struct Parser;
  void parse();
  void parse_head();
  void parse_body();
  bool check_raw(std::string_view head);
  bool check_fields();
  void keep_head();
  void refuse(int status, std::string why, std::string hint = {});

  const RequestLimits limits_;
  State state_ = State::idle;
  std::string buffer_;
  size_t scanned_ = 0;  // bytes of the buffer that were searched for the end of the head
  bool wants_continue_ = false;
  std::unique_ptr<Parser> parser_;
  HttpRequest request_;  // the request that is being read, without its body
  Refusal refusal_;
};

}  // namespace stoka::serve
