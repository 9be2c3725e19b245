#include "net/reason_phrase.h"

#include <doctest/doctest.h>

#include <iterator>
#include <set>

#include "base/error.h"

namespace reason_phrase_test {

using stoka::ErrorKind;
using stoka::net::reason_phrase;

TEST_CASE("every status in use has a distinct reason phrase") {
  std::set<std::string_view> phrases;
  const int statuses[] = {200, 204, 302, 304, 400, 401, 403, 404, 405, 408, 409, 411, 413, 414,
                          415, 417, 421, 422, 429, 431, 499, 500, 501, 502, 503, 504, 505};
  for (const int status : statuses) {
    CAPTURE(status);
    CHECK(reason_phrase(status) != "Unknown");
    phrases.insert(reason_phrase(status));
  }
  CHECK(phrases.size() == std::size(statuses));
  CHECK(reason_phrase(404) == "Not Found");
  CHECK(reason_phrase(413) == "Content Too Large");
  CHECK(reason_phrase(499) == "Client Closed Request");
  for (const int status : {0, -1, 99, 306, 600}) CHECK(reason_phrase(status) == "Unknown");
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind)
    CHECK(reason_phrase(stoka::http_status(static_cast<ErrorKind>(kind))) != "Unknown");
}

}  // namespace reason_phrase_test
