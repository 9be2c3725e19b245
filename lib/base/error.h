// The one error type. A kind says what a caller can do about it; exit code and HTTP status follow
// from the kind alone.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace stoka {

enum class ErrorKind {
  usage,        // the caller's words are wrong: flags, query, request body
  config,       // configuration is wrong or contradicts the index
  data,         // what is stored or read is missing, damaged or unreadable
  not_found,    // the named thing does not exist
  busy,         // someone else holds it; try again
  unavailable,  // an upstream or database does not answer
  timeout,      // it did not answer in time
  protocol,     // it answered nonsense
  cancelled,    // a stop was asked for
  internal,     // a bug in stoka
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  // one line, lower case, no full stop: what is wrong, with names
  std::string hint;     // what to do next; may be empty
  int retry_after = 0;  // seconds until the same call is worth another try; 0: unknown

  Error() = default;
  Error(ErrorKind k, std::string m, std::string h = {})
      : kind(k), message(std::move(m)), hint(std::move(h)) {}
};

// "usage", "config", …: stable, appears in JSON.
std::string_view name(ErrorKind kind);
// 2 usage; 3 configuration or data; 4 upstream or database; 130 cancelled.
int exit_code(ErrorKind kind);
int http_status(ErrorKind kind);
// Whether the same call may succeed later without anybody changing anything.
bool retryable(ErrorKind kind);

}  // namespace stoka
