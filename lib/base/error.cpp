#include "base/error.h"

namespace stoka {
namespace {

struct Row {
  ErrorKind kind;
  std::string_view name;
  int exit_code;
  int http_status;
  bool retryable;
};

constexpr Row kRows[] = {
    {ErrorKind::usage, "usage", 2, 400, false},
    {ErrorKind::config, "config", 3, 503, false},
    {ErrorKind::data, "data", 3, 500, false},
    {ErrorKind::not_found, "not_found", 3, 404, false},
    {ErrorKind::busy, "busy", 4, 503, true},
    {ErrorKind::unavailable, "unavailable", 4, 503, true},
    {ErrorKind::timeout, "timeout", 4, 503, true},
    {ErrorKind::protocol, "protocol", 4, 503, true},
    {ErrorKind::cancelled, "cancelled", 130, 499, false},
    {ErrorKind::internal, "internal", 3, 500, false},
};

const Row& row(ErrorKind kind) {
  for (const Row& r : kRows)
    if (r.kind == kind) return r;
  return kRows[std::size(kRows) - 1];
}

}  // namespace

std::string_view to_string(ErrorKind kind) { return row(kind).name; }
int exit_code(ErrorKind kind) { return row(kind).exit_code; }
int http_status(ErrorKind kind) { return row(kind).http_status; }
bool retryable(ErrorKind kind) { return row(kind).retryable; }

}  // namespace stoka
