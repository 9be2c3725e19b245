#include "serve/http.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/json.h"
#include "text/utf8.h"

namespace http_test {

using namespace std::chrono_literals;
using namespace std::string_literals;
using stoka::Error;
using stoka::ErrorKind;
using stoka::serve::Framing;
using stoka::serve::HttpRequest;
using stoka::serve::HttpResponse;
using stoka::serve::percent_decoded;
using stoka::serve::problem_details_json;
using stoka::serve::response_head;
using stoka::serve::retry_after;

TEST_CASE("percent_decoded decodes escapes and keeps invalid ones") {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},         {"abc", "abc"}, {"%2Fblog+x", "/blog x"}, {"%e2%82%AC", "€"},
      {"%", "%"},       {"%4", "%4"},   {"%4g", "%4g"},           {"%%41", "%A"},
      {"%2541", "%41"}, {"%00", "\0"s}, {"a%20b%", "a b%"},       {"%ff", "\xFF"},
  };
  for (const auto& [text, decoded] : cases) {
    CAPTURE(text);
    CHECK(percent_decoded(text) == decoded);
  }
}

TEST_CASE("of several query parameters with one name the first is returned, decoded") {
  HttpRequest request;
  request.query = "a=1&b=%2Fx+y&&c&=d&a=2&%65=f=g&h=";
  const std::pair<std::string, std::string> cases[] = {
      {"a", "1"}, {"b", "/x y"}, {"c", ""}, {"e", "f=g"}, {"h", ""}, {"z", ""}, {"A", ""}};
  for (const auto& [name, value] : cases) {
    CAPTURE(name);
    CHECK(request.parameter(name) == value);
  }
  request.query = "";
  CHECK(request.parameter("a").empty());
  request.query = "&";
  CHECK(request.parameter("a").empty());
}

TEST_CASE("headers are found by their lower-case names") {
  HttpRequest request;
  request.headers = {{"a", "1"}, {"b", ""}, {"a", "2"}};
  CHECK(request.header("a") == "1");
  CHECK(request.header("b") == "");
  CHECK(request.header("c") == "");
  CHECK(request.header_values("a") == std::vector<std::string_view>{"1", "2"});
  CHECK(request.header_values("c").empty());
}

TEST_CASE("the response head has Content-Length, chunked coding or neither") {
  const HttpResponse plain;
  const std::string sized = response_head(plain, Framing::sized, 12, true);
  CHECK(sized.starts_with(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n"));
  CHECK(sized.ends_with("Connection: keep-alive\r\nServer: stoka\r\n\r\n"));
  CHECK(sized.find("Transfer-Encoding") == std::string::npos);
  CHECK(response_head(plain, Framing::chunked, 0, true).find("Content-Length") ==
        std::string::npos);
  CHECK(response_head(plain, Framing::chunked, 0, true).find("Transfer-Encoding: chunked\r\n") !=
        std::string::npos);
  const std::string open = response_head(plain, Framing::until_close, 0, false);
  CHECK(open.find("Content-Length") == std::string::npos);
  CHECK(open.find("Transfer-Encoding") == std::string::npos);
  CHECK(open.find("Connection: close\r\n") != std::string::npos);
  for (const int status : {204, 304}) {
    HttpResponse none;
    none.status = status;
    none.content_type = "";
    const std::string head = response_head(none, Framing::sized, 0, true);
    CHECK(head.find("Content-") == std::string::npos);
    CHECK(head.starts_with("HTTP/1.1 " + std::to_string(status) + " "));
  }
}

TEST_CASE("a header value with control characters is left out") {
  for (const std::string& value : {"x\r\nSet-Cookie: y"s, "x\ny"s, "x\0y"s, "x\x7f"s, "\x1b[m"s}) {
    HttpResponse response;
    response.headers = {{"Location", value}, {"ETag", "\"good\""}};
    const std::string head = response_head(response, Framing::sized, 0, true);
    CHECK(head.find("Location") == std::string::npos);
    CHECK(head.find("Set-Cookie") == std::string::npos);
    CHECK(head.find("ETag: \"good\"\r\n") != std::string::npos);
  }
}

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

}  // namespace http_test
