// Bytes to requests: Boost.Beast's parser, and the checks that it leaves to its users. Every way in
// which two parsers could disagree about where a request ends is refused, and the connection with
// it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http.h"

namespace stoka::serve {

struct RequestLimits {
  size_t head = 8u << 10;  // bytes, with the request line
  size_t fields = 100;
  size_t body = 64u << 10;  // bytes
};

// Bytes in any split. Not thread safe.
class RequestReader {
 public:
  explicit RequestReader(RequestLimits limits = {});
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  enum class State {
    idle,      // nothing of a request yet
    head,      // within its head
    body,      // its head is there
    complete,  // take() it
    refused,   // see refusal(); there is no going on
  };

  // Adds what was received, and reads on as far as one request.
  State push(std::string_view bytes);
  State state() const { return state_; }

  // The client waits for "100 Continue"; true once a request.
  bool expects_continue();

  // The request, without its trailers; then reading goes on with what was received after it: see
  // state().
  Request take();

  // Bytes received and not yet part of a request.
  size_t buffered() const { return buffer_.size(); }

  struct Refusal {
    int status = 400;
    std::string why;   // one line
    std::string hint;  // what to do
  };
  const Refusal& refusal() const { return refusal_; }
  // Of the request that is being read or was refused; empty until its head is whole.
  const Request& head() const { return request_; }

 private:
  struct Parser;
  void read_on();
  void read_head();
  void read_body();
  bool check_raw(std::string_view head);
  bool check_fields();
  void keep_head();
  void refuse(int status, std::string why, std::string hint = {});

  const RequestLimits limits_;
  State state_ = State::idle;
  std::string buffer_;
  size_t scanned_ = 0;  // of the buffer, for the end of the head
  bool wants_continue_ = false;
  std::unique_ptr<Parser> parser_;
  Request request_;  // the one being read, without its body
  Refusal refusal_;
};

}  // namespace stoka::serve
