#include "serve/cors.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace cors_test {

namespace {

using stoka::ErrorKind;
using stoka::serve::Cors;

Cors cors(const std::vector<std::string>& origins) {
  auto out = Cors::make(origins);
  REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().message));
  return *out;
}

struct Problem {
  std::string message, hint;
};

Problem problem(const std::vector<std::string>& origins) {
  const auto out = Cors::make(origins);
  if (out) return {};
  CHECK(out.error().kind == ErrorKind::config);
  return {out.error().message, out.error().hint};
}

std::string lines(const Cors::Headers& headers) {
  std::string out;
  for (const auto& [name, value] : headers) out += std::string(name) + ": " + value + "\n";
  return out;
}

std::string preflight(const Cors& by, std::string_view origin, std::string_view method,
                      std::string_view headers) {
  const auto out = by.preflight(origin, method, headers);
  return out ? lines(*out) : "refused";
}

const std::string kSite = "https://example.com";
const std::string kExpose =
    "Access-Control-Expose-Headers: RateLimit-Limit, RateLimit-Remaining, Retry-After, "
    "X-Request-Id\n";
const std::string kPreflight =
    "Access-Control-Allow-Methods: GET, POST\n"
    "Access-Control-Allow-Headers: authorization, content-type, traceparent, x-request-id\n"
    "Access-Control-Max-Age: 600\n";

// None of them is https://example.com or http://localhost:4321.
const std::vector<std::string> kForeign = {
    "",
    "null",
    "*",
    "https://evil.example",
    "http://example.com",
    "https://example.com.evil",
    "https://example.com.evil.net",
    "https://evilexample.com",
    "https://www.example.com",
    "https://example.co",
    "https://example.com:443",
    "https://example.com:8443",
    "https://example.com:",
    "https://example.com/",
    "https://example.com/path",
    "https://example.com.",
    "https://example.com@evil.net",
    "https://evil.net/https://example.com",
    "https://example.com https://evil.net",
    "https://example.com, https://evil.net",
    " https://example.com",
    "https://example.com ",
    "https://example.com\r\nX: y",
    "HTTPS://EXAMPLE.COM",
    "https://Example.com",
    "https://examp1e.com",
    "https:example.com",
    "example.com",
    "http://localhost",
    "http://localhost:43210",
    "http://localhost:4321.evil.net",
    "http://127.0.0.1:4321",
    std::string("https://example.com\0", 20),
    std::string("https://example.com\0.evil.net", 29),
};

}  // namespace

TEST_CASE("an allowed origin gets the CORS headers") {
  const Cors by = cors({kSite, "http://localhost:4321"});
  CHECK(by.allows(kSite));
  CHECK(lines(by.headers(kSite)) ==
        "Access-Control-Allow-Origin: https://example.com\nVary: Origin\n" + kExpose);
  CHECK(lines(by.headers("http://localhost:4321")) ==
        "Access-Control-Allow-Origin: http://localhost:4321\nVary: Origin\n" + kExpose);
}

TEST_CASE("another origin gets only Vary, so that caches keep responses apart") {
  const Cors by = cors({kSite, "http://localhost:4321"});
  for (const std::string& origin : kForeign) {
    CAPTURE(origin);
    CHECK_FALSE(by.allows(origin));
    CHECK(lines(by.headers(origin)) == "Vary: Origin\n");
    CHECK(preflight(by, origin, "POST", "") == "refused");
  }
}

TEST_CASE("without allowed origins there are no CORS headers") {
  const Cors by = cors({});
  CHECK_FALSE(by.allows(kSite));
  CHECK(lines(by.headers(kSite)).empty());
  CHECK(preflight(by, kSite, "GET", "") == "refused");
  for (const std::string& origin : kForeign) CHECK_FALSE(by.allows(origin));
}

TEST_CASE("a wildcard allows any origin and does not repeat it") {
  const Cors by = cors({"*"});
  for (const std::string& origin : kForeign) {
    CHECK(by.allows(origin));
    CHECK(lines(by.headers(origin)) == "Access-Control-Allow-Origin: *\n" + kExpose);
  }
  CHECK(preflight(by, "null", "POST", "content-type") ==
        "Access-Control-Allow-Origin: *\n" + kPreflight);
  CHECK(preflight(by, "", "POST", "content-type") == "refused");
}

TEST_CASE("a preflight is granted for the supported methods and headers only") {
  const Cors by = cors({kSite});
  const std::string granted =
      "Access-Control-Allow-Origin: https://example.com\nVary: Origin\n" + kPreflight;
  CHECK(preflight(by, kSite, "GET", "") == granted);
  CHECK(preflight(by, kSite, "POST", "content-type") == granted);
  CHECK(preflight(by, kSite, "POST", "Authorization,Content-Type , TRACEPARENT,\tx-request-id") ==
        granted);
  CHECK(preflight(by, kSite, "POST", ",content-type,,") == granted);
  for (const char* method :
       {"", "PUT", "DELETE", "PATCH", "OPTIONS", "post", "GET, POST", "GET,", ", ", "GE", "*"}) {
    CAPTURE(method);
    CHECK(preflight(by, kSite, method, "") == "refused");
  }
  for (const char* headers : {"x-evil", "content-type, x-evil", "x-evil,content-type", "cookie",
                              "*", "content-type x-evil", "content", "authorization, content-type;",
                              "x-request-id\r\nX: y", "content-type, traceparent x"}) {
    CAPTURE(headers);
    CHECK(preflight(by, kSite, "POST", headers) == "refused");
  }
}

TEST_CASE("CORS headers never allow credentials") {
  for (const Cors& by : {cors({kSite}), cors({"*"})}) {
    CHECK(lines(by.headers(kSite)).find("Credentials") == std::string::npos);
    CHECK(preflight(by, kSite, "POST", "").find("Credentials") == std::string::npos);
  }
}

TEST_CASE("configured origins are normalised: case, default port, blanks") {
  struct Case {
    std::string configured, origin;
  };
  const Case cases[] = {
      {"HTTPS://Example.COM", kSite},
      {"https://example.com:443", kSite},
      {" https://example.com ", kSite},
      {"http://example.com:80", "http://example.com"},
      {"http://example.com:443", "http://example.com:443"},
      {"https://example.com:80", "https://example.com:80"},
      {"http://127.0.0.1:4321", "http://127.0.0.1:4321"},
      {"http://[::1]:4321", "http://[::1]:4321"},
      {"http://[::1]", "http://[::1]"},
      {"https://[2001:DB8::1]:443", "https://[2001:db8::1]"},
      {"https://xn--bcher-kva.example", "https://xn--bcher-kva.example"},
      {"https://a:65535", "https://a:65535"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.configured);
    const Cors by = cors({c.configured});
    CHECK(by.allows(c.origin));
    CHECK(by.headers(c.origin).front().second == c.origin);
  }
}

TEST_CASE("an invalid origin gives a config error that says what to write") {
  struct Case {
    std::string configured, what, hint;
  };
  const std::string example = "write it as https://example.com or http://localhost:4321";
  const std::string wildcard = "write each origin in full, or \"*\" alone for any";
  const std::string after = "it has something after the host and port";
  const std::string port = "its port is not a number from 1 to 65535";
  const std::string host = "its host is not a valid host name";
  const std::string names = "write international names as xn--\u2026, as browsers do";
  const Case cases[] = {
      {"https://example.com/", after, "write https://example.com"},
      {"https://Example.com:8443/blog?x#y", after, "write https://example.com:8443"},
      {"https://example.com?x", after, "write https://example.com"},
      {"https://*.example.com", "a wildcard cannot be a part of it", wildcard},
      {"https://example.com:*", "a wildcard cannot be a part of it", wildcard},
      {"**", "a wildcard cannot be a part of it", wildcard},
      {"example.com", "it has no scheme", "write https://example.com or http://example.com"},
      {"localhost:4321", "it has no scheme",
       "write https://localhost:4321 or http://localhost:4321"},
      {"", "it has no scheme", example},
      {"//example.com", "it has no scheme", example},
      {"null", "browsers send it for every page that has no origin", example},
      {"NULL", "browsers send it for every page that has no origin", example},
      {"ftp://example.com", "it is neither http nor https", example},
      {"file:///", "it is neither http nor https", example},
      {"://example.com", "it is neither http nor https", example},
      {"https://example.com:", port, example},
      {"https://example.com:0", port, example},
      {"https://example.com:0443", port, example},
      {"https://example.com:65536", port, example},
      {"https://example.com:99999", port, example},
      {"https://example.com:123456", port, example},
      {"https://example.com:a", port, example},
      {"https://", host, names},
      {"https://:80", host, names},
      {"https://[]", host, names},
      {"https://[::1", host, names},
      {"https://b\u00FCcher.example", host, names},
      {"https://a b", host, names},
      {"https://a,https", host, names},
  };
  for (const Case& c : cases) {
    CAPTURE(c.configured);
    const Problem found = problem({kSite, c.configured});
    CHECK(found.message == "\"" + c.configured + "\" is not a valid origin: " + c.what);
    CHECK(found.hint == c.hint);
  }
  CHECK(problem({"https://a\r\nb"}).message ==
        "\"https://a  b\" is not a valid origin: its host is not a valid host name");
  for (const char* secret : {"https://user:canary@example.com", "user:canary@example.com",
                             "https://user:canary@*.example.com/", "ftp://user:canary@a"}) {
    CHECK(problem({secret}).message == "an allowed origin names a user");
    CHECK(problem({secret}).hint == example);
  }
  CHECK(problem({"*", kSite}).hint == "write \"*\" alone, or leave it out");
  CHECK(problem({kSite, "*"}).hint == "write \"*\" alone, or leave it out");
}

}  // namespace cors_test
