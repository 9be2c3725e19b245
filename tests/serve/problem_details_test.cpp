#include "serve/problem_details.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "support/json.h"
#include "text/utf8.h"

namespace problem_details_test {

namespace {

using namespace std::chrono_literals;
using stoka::Error;
using stoka::ErrorKind;
using stoka::serve::problem_details_json;
using stoka::serve::reason;
using stoka::serve::retry_after;

}  // namespace

TEST_CASE("problem details are compact JSON with members in order") {
  const Error error(ErrorKind::usage, "scroll_pct is 101, and at most 100", "send 0 to 100");
  CHECK(problem_details_json(400, error, "scroll_pct", "req-1") ==
        R"({"type":"about:blank","title":"Bad Request","status":400,"code":"usage",)"
        R"("detail":"scroll_pct is 101, and at most 100","hint":"send 0 to 100",)"
        R"("field":"scroll_pct","request_id":"req-1"})");
}

TEST_CASE("an empty hint and field are left out") {
  CHECK(problem_details_json(503, Error(ErrorKind::busy, "the queue is full"), "", "r") ==
        R"({"type":"about:blank","title":"Service Unavailable","status":503,"code":"busy",)"
        R"("detail":"the queue is full","request_id":"r"})");
}

TEST_CASE("problem details are one line of valid UTF-8 and JSON for any error") {
  for (const std::string& text :
       {std::string("\xff\xfe"), std::string("\xed\xa0\x80"), std::string("a\0b", 3),
        std::string("\"\\\r\n\x1b[31m"), std::string("</script>"), std::string("J\u00F6rg"),
        std::string("cut \xc3")}) {
    CAPTURE(text);
    const std::string body =
        problem_details_json(400, Error(ErrorKind::usage, text, text), text, text);
    CHECK(stoka::text::is_valid_utf8(body));
    for (const char c : body) CHECK(static_cast<unsigned char>(c) >= 0x20);
    const auto parsed = nlohmann::json::parse(body, nullptr, false);
    REQUIRE_FALSE(parsed.is_discarded());
    CHECK(parsed.size() == 8);
    if (!stoka::text::is_valid_utf8(text)) continue;
    for (const char* name : {"detail", "hint", "field", "request_id"})
      CHECK(parsed[name].get<std::string>() == text);
  }
}

TEST_CASE("every status in use has a distinct reason phrase") {
  std::set<std::string_view> phrases;
  const int statuses[] = {200, 204, 302, 304, 400, 401, 403, 404, 405, 408, 409, 411, 413,
                          414, 415, 421, 422, 429, 431, 499, 500, 501, 502, 503, 504, 505};
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

TEST_CASE("every 503 has Retry-After, and no other status does") {
  CHECK(retry_after(Error(ErrorKind::busy, "")) == 2s);
  for (const ErrorKind kind :
       {ErrorKind::unavailable, ErrorKind::timeout, ErrorKind::protocol, ErrorKind::config}) {
    CHECK(stoka::http_status(kind) == 503);
    CHECK(retry_after(Error(kind, "")) == 5s);
  }
  for (const ErrorKind kind : {ErrorKind::usage, ErrorKind::data, ErrorKind::not_found,
                               ErrorKind::cancelled, ErrorKind::internal}) {
    CHECK(stoka::http_status(kind) != 503);
    Error error(kind, "");
    error.retry_after = 7;
    CHECK_FALSE(retry_after(error).has_value());
  }
}

TEST_CASE("Retry-After of a model server is passed on") {
  for (const ErrorKind kind : {ErrorKind::busy, ErrorKind::unavailable, ErrorKind::timeout}) {
    Error error(kind, "");
    error.retry_after = 47;
    CHECK(retry_after(error) == 47s);
  }
}

}  // namespace problem_details_test
