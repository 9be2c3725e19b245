// One transfer in the form in which a recording stores it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/transport.h"

namespace stoka::net {

struct RecordedTransfer {
  std::string role;
  std::string name;
  std::string subject;
  std::string request;         // the request body as canonical JSON
  std::optional<Head> head;    // nothing if no response headers arrived
  std::string body;            // bytes
  std::vector<size_t> pieces;  // the lengths of the pieces in which the body arrived
  std::optional<Failure> failure;

  // One line of JSON, without a line end.
  std::string to_line() const;
  // The error says what is wrong with the line.
  static Result<RecordedTransfer> from_line(std::string_view line);
};

// Canonical JSON: equal for bodies that differ only in white space or in the order of their keys.
std::string canonical(std::string_view request_body);

}  // namespace stoka::net
