#include "base/error.h"

#include <doctest/doctest.h>

namespace error_test {

using namespace stoka;

TEST_CASE("every error kind has the documented exit code") {
  CHECK(exit_code(ErrorKind::usage) == 2);
  CHECK(exit_code(ErrorKind::config) == 3);
  CHECK(exit_code(ErrorKind::data) == 3);
  CHECK(exit_code(ErrorKind::unavailable) == 4);
  CHECK(exit_code(ErrorKind::cancelled) == 130);
  CHECK(http_status(ErrorKind::busy) == 503);
  CHECK(retryable(ErrorKind::busy));
  CHECK(!retryable(ErrorKind::usage));
}

}  // namespace error_test
