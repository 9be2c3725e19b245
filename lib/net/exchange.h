// One request on one libcurl handle: its settings, its callbacks, its deadlines. Whoever drives it
// adds handle() to a multi handle; a loop may drive one of them or many.
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

// Not thread safe. Stays where it is: libcurl calls it back.
class Exchange {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The deadlines run from now on. Request and listener must outlive it. A config error for a key
  // that cannot be sent.
  static Result<std::unique_ptr<Exchange>> begin(const Request& request, Listener& listener);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  CURL* handle() const { return handle_.get(); }

  // While it is paused its silence is not the server's.
  void set_paused(bool paused);

  // The listener has heard enough: a success, however much there is to come. Taking the handle out
  // of its multi handle closes the connection.
  bool enough(Time now) const;
  // When expired() is to be asked next. libcurl itself watches the time to connect.
  std::optional<Time> next_deadline() const;
  // The deadline that has passed, as a failure.
  std::optional<Failure> expired(Time now) const;
  // How it went, when libcurl is done with the handle.
  std::optional<Failure> finish(CURLcode code) const;
  // How it went otherwise, e.g. cancelled.
  Failure failure(Error error, Cause cause = Cause::other) const;

 private:
  struct EasyCleanup {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  };
  struct ListFree {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  struct Deadline {
    Time at;
    Milliseconds after;
    const char* what;  // with {} for the duration
    Cause cause;
  };

  Exchange(const Request& request, Listener& listener);
  bool set_up();
  bool add_header(const std::string& line);
  std::optional<Deadline> first_deadline() const;

  static int on_connected(void* self, char*, char*, int, int);
  static size_t on_header(char* data, size_t size, size_t count, void* self);
  static size_t on_body(char* data, size_t size, size_t count, void* self);
  // What libcurl is to be told. Nothing that is thrown gets into its frames.
  template <class Hear>
  size_t guarded(size_t size, const Hear& hear);
  // False: the exchange is to be aborted, error_ says why.
  bool header(std::string_view line);
  bool head_complete();
  bool body(std::string_view bytes);
  bool abort(Error error);

  Error explain(CURLcode code) const;

  const Request& request_;
  Listener& listener_;
  const Time start_;
  std::unique_ptr<curl_slist, ListFree> headers_;
  std::array<char, CURL_ERROR_SIZE> reason_{};
  std::unique_ptr<CURL, EasyCleanup> handle_;  // after what it points into

  Head head_;
  std::string encoding_;  // of the content
  std::string location_;
  size_t head_bytes_ = 0;
  size_t body_bytes_ = 0;
  Time last_byte_{};
  bool connected_ = false;
  bool answered_ = false;
  bool flowing_ = false;
  bool enough_ = false;
  bool paused_ = false;
  std::optional<Time> ends_;  // at the latest
  std::optional<Error> error_;
};

}  // namespace stoka::net
