// One exchange as a recording keeps it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/transport.h"

namespace stoka::net {

struct Recorded {
  std::string role;
  std::string name;
  std::string subject;
  std::string request;         // canonical JSON of the body
  std::optional<Head> head;    // nothing when none came
  std::string body;            // bytes
  std::vector<size_t> pieces;  // lengths, of the body in order
  std::optional<Failure> failure;

  // One line of JSON, without its line end.
  std::string to_line() const;
  // An error says what is wrong with the line.
  static Result<Recorded> from_line(std::string_view line);
};

// The same for bodies that differ only in how their JSON is written.
std::string canonical(std::string_view request_body);

}  // namespace stoka::net
