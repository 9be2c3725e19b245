// The error type of the whole program. The kind says what the caller can do about the error. The
// exit code and the HTTP status depend on the kind alone.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace stoka {

enum class ErrorKind {
  usage,        // the input of the caller is wrong: flags, query, request body
  config,       // the configuration is wrong or contradicts the index
  data,         // stored data or an input file is missing, damaged or unreadable
  not_found,    // the named object does not exist
  busy,         // the resource is in use; the caller may try again
  unavailable,  // an upstream or the database cannot be reached
  timeout,      // an upstream or the database did not answer in time
  protocol,     // an upstream sent an answer that breaks its protocol
  cancelled,    // the caller requested a stop
  internal,     // a bug in stoka
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  // what is wrong, with names; one line, lower case, no full stop
  std::string hint;     // what to do next; may be empty
  int retry_after = 0;  // seconds after which the call may be repeated; 0 if unknown

  Error() = default;
  Error(ErrorKind k, std::string m, std::string h = {})
      : kind(k), message(std::move(m)), hint(std::move(h)) {}
};

// Returns the name of an error kind: "usage", "config", …. Names appear in JSON and never change.
std::string_view to_string(ErrorKind kind);
// Returns the exit code: 2 usage; 3 configuration or data; 4 upstream or database; 130 cancelled.
int exit_code(ErrorKind kind);
int http_status(ErrorKind kind);
// Whether a call that failed with this error may succeed later if it is repeated unchanged.
bool retryable(ErrorKind kind);

}  // namespace stoka
