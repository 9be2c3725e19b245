// One HTTP transfer on a libcurl easy handle: its options, callbacks and timeouts. The owner adds
// handle() to a multi handle; an event loop may run any number of them.
#pragma once

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/transport.h"

namespace stoka::net {

// A transfer is not thread safe. It cannot be copied or moved, because libcurl keeps its address.
class CurlTransfer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Creates a transfer, whose timeouts start now. The request and the sink must outlive the
  // transfer. A key with control characters is a config error.
  static Result<std::unique_ptr<CurlTransfer>> create(const HttpRequest& request, BodySink& sink);
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;

  CURL* handle() const { return handle_.get(); }

  // The idle timeout does not run while the transfer is paused.
  void set_paused(bool paused);

  // Whether the sink needs no more and the transfer can end as a success. Removing the handle from
  // its multi handle then closes the connection.
  bool is_complete(Time now) const;
  // When to call expired() next. The connect timeout is not included: libcurl itself enforces it.
  std::optional<Time> next_timeout() const;
  // The failure if one of the timeouts has passed.
  std::optional<TransferFailure> expired(Time now) const;
  // The outcome, when libcurl is done with the handle; nothing means success.
  std::optional<TransferFailure> finish(CURLcode code) const;
  // A failure that libcurl did not report, with the state of this transfer.
  TransferFailure failure(Error error, FailureCause cause = FailureCause::other) const;

 private:
  struct EasyCleanup {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  };
  struct ListFree {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  struct PendingTimeout {
    Time at;
    Milliseconds duration;
    const char* message;  // the message of the error, with {} for the duration
    FailureCause cause;
  };

  CurlTransfer(const HttpRequest& request, BodySink& sink);
  bool set_up();
  bool add_header(const std::string& line);
  std::optional<PendingTimeout> first_timeout() const;

  static int on_connected(void* self, char*, char*, int, int);
  static size_t on_header(char* data, size_t size, size_t count, void* self);
  static size_t on_body(char* data, size_t size, size_t count, void* self);
  // Returns what a libcurl callback must return. Turns exceptions into an error, because they must
  // not unwind through libcurl.
  template <class Callback>
  size_t guarded(size_t size, const Callback& callback);
  // The following functions return false when the transfer is to be aborted with error_.
  bool header(std::string_view line);
  bool head_complete();
  bool body(std::string_view bytes);
  bool abort(Error error);

  Error explain(CURLcode code) const;

  const HttpRequest& request_;
  BodySink& sink_;
  const Time start_;
  std::unique_ptr<curl_slist, ListFree> headers_;
  std::array<char, CURL_ERROR_SIZE> reason_{};
  std::unique_ptr<CURL, EasyCleanup> handle_;  // declared after the members that it points to

  ResponseHead head_;
  std::string encoding_;  // the value of the header Content-Encoding
  std::string location_;
  size_t head_bytes_ = 0;
  size_t body_bytes_ = 0;
  Time last_byte_{};
  bool connected_ = false;
  bool answered_ = false;
  bool flowing_ = false;
  bool complete_ = false;
  bool paused_ = false;
  std::optional<Time>
      ends_;  // set once the sink said `content_complete`: the latest end of the transfer
  std::optional<Error> error_;
};

}  // namespace stoka::net
