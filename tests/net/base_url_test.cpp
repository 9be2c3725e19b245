#include "net/base_url.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace base_url_test {

namespace {

using stoka::ErrorKind;
using stoka::net::ApiRoot;
using stoka::net::BaseUrl;

std::string shown(const std::string& pasted, ApiRoot root) {
  const auto url = BaseUrl::parse(pasted, root);
  return url ? url->display() : "refused: " + url.error().message;
}

}  // namespace

TEST_CASE("an address is accepted in any form that people paste") {
  struct Case {
    std::string pasted, plain, versioned;
  };
  const std::string host = "http://host:8000";
  const Case cases[] = {
      {"localhost:8072", "http://localhost:8072", "http://localhost:8072/v1"},
      {"host:8000", host, host + "/v1"},
      {"host", "http://host", "http://host/v1"},
      {"192.168.1.2:8000", "http://192.168.1.2:8000", "http://192.168.1.2:8000/v1"},
      {"  http://host:8000\n", host, host + "/v1"},
      {"http://host:8000", host, host + "/v1"},
      {"http://host:8000/", host, host + "/v1"},
      {"http://host:8000///", host, host + "/v1"},
      {"//host:8000", host, host + "/v1"},
      {"http:/host:8000", host, host + "/v1"},
      {"HTTP://Host:8000", host, host + "/v1"},
      {"HTTPS://Host", "https://host", "https://host/v1"},
      {"http://host:8000#top", host, host + "/v1"},
      {"http://host:08000", host, host + "/v1"},
      {"http://host:", "http://host", "http://host/v1"},
      {"https://host:443", "https://host:443", "https://host:443/v1"},
      {"[::1]:8000", "http://[::1]:8000", "http://[::1]:8000/v1"},
      {"http://[::1]:8000/v1/", "http://[::1]:8000/v1", "http://[::1]:8000/v1"},
      {"http://[fe80::1%25eth0]:8000", "http://[fe80::1%25eth0]:8000",
       "http://[fe80::1%25eth0]:8000/v1"},
      {"host:8000/v1", host + "/v1", host + "/v1"},
      {"http://host:8000/v1/", host + "/v1", host + "/v1"},
      {"http://host:8000//v1//", host + "/v1", host + "/v1"},
      {"http://host:8000/a/../v1", host + "/v1", host + "/v1"},
      {"http://host:8000/v2", host + "/v2", host + "/v2"},
      {"http://host:8000/api/v3", host + "/api/v3", host + "/api/v3"},
      {"https://host/v1beta/openai/", "https://host/v1beta/openai", "https://host/v1beta/openai"},
      {"https://host/api", "https://host/api", "https://host/api/v1"},
      {"https://host/versions", "https://host/versions", "https://host/versions/v1"},
      {"https://host/v", "https://host/v", "https://host/v/v1"},
      {"https://host/gr\u00FCn", "https://host/gr%c3%bcn", "https://host/gr%c3%bcn/v1"},
      // Addresses of endpoints.
      {"http://host:8000/v1/chat/completions", host, host + "/v1"},
      {"http://host:8000/v1/chat/completions/", host, host + "/v1"},
      {"http://host:8000/v1/completions", host, host + "/v1"},
      {"http://host:8000/v1/embeddings", host, host + "/v1"},
      {"http://host:8000/v1/models", host, host + "/v1"},
      {"http://host:8000/v1/responses", host, host + "/v1"},
      {"http://host:8000/v1/rerank", host + "/v1", host + "/v1"},
      {"http://host:8000/v2/rerank", host + "/v2", host + "/v2"},
      {"https://host/api/v3/chat/completions", "https://host/api/v3", "https://host/api/v3"},
      {"https://host/v1beta/openai/embeddings", "https://host/v1beta/openai",
       "https://host/v1beta/openai"},
      {"http://host:8000/embed", host, host + "/v1"},
      {"http://host:8000/info", host, host + "/v1"},
      {"http://host:8000/health", host, host + "/v1"},
      {"http://host:8000/tei/embed", host + "/tei", host + "/tei/v1"},
      // An endpoint of a versioned API without a version is complete.
      {"http://host:8000/rerank", host, host},
      {"http://host:8000/chat/completions", host, host},
      {"https://host/api/chat/completions", "https://host/api", "https://host/api"},
      {"https://host/openai/deployments/d/chat/completions?api-version=2024-10-21",
       "https://host/openai/deployments/d", "https://host/openai/deployments/d"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.pasted);
    CHECK(shown(c.pasted, ApiRoot::plain) == c.plain);
    CHECK(shown(c.pasted, ApiRoot::versioned) == c.versioned);
    // The displayed address parses to the same one, except for a versioned API without a version.
    CHECK(shown(c.plain, ApiRoot::plain) == c.plain);
  }
}

TEST_CASE("an invalid address is rejected with the reason and without secrets") {
  struct Case {
    std::string pasted, message;
  };
  const Case cases[] = {
      {"", "the address is empty"},
      {" \t\n", "the address is empty"},
      {"ftp://host/file", "the address 'ftp://host/file' is neither http nor https"},
      {"file:///etc/passwd", "the address 'file:///etc/passwd' is neither http nor https"},
      {"unix:/run/server", "the address 'unix:/run/server' is neither http nor https"},
      {"http://user:hunter2@host:8000", "the address contains a user or a password"},
      {"user:hunter2@host:8000", "the address contains a user or a password"},
      {"http://hunter2@host", "the address contains a user or a password"},
      {"http://user:hun#ter2@host", "the address has a port that is not a number from 1 to 65535"},
      {"http://:hunter2@:", "the address contains a user or a password"},
      {"http://host:0",
       "the address 'http://host:0' has a port that is not a number from 1 to 65535"},
      {"http://host:65536",
       "the address 'http://host:65536' has a port that is not a number from 1 to 65535"},
      {"host:port", "the address 'host:port' has a port that is not a number from 1 to 65535"},
      {"host:-1", "the address 'host:-1' has a port that is not a number from 1 to 65535"},
      {"host:port?key=hunter2",
       "the address 'host:port' has a port that is not a number from 1 to 65535"},
      {"http://", "the address 'http://' has no host"},
      {"http://:8000", "the address 'http://:8000' has no host"},
      {"/v1", "the address '/v1' has no host"},
      {"http://ho st", "the address 'http://ho st' contains white space"},
      {"http://host/a b", "the address 'http://host/a b' contains white space"},
      {"http://ho\\st", "the address 'http://ho\\st' has no host"},
      {"http://[::1", "the address 'http://[::1' has no host"},
      {"http://[zz]:8000", "the address 'http://[zz]:8000' has no host"},
      {"http://host/\x1b[31m", "the address 'http://host/ [31m' contains control characters"},
      {"http://host/a\r\nX: y", "the address 'http://host/a  X: y' contains white space"},
      {"http://host/\u202Egnp", "the address 'http://host/ gnp' contains control characters"},
      {"http://host/\xff", "the address 'http://host/\uFFFD' contains control characters"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.pasted);
    for (const ApiRoot root : {ApiRoot::plain, ApiRoot::versioned}) {
      const auto url = BaseUrl::parse(c.pasted, root);
      REQUIRE_FALSE(url.has_value());
      CHECK(url.error().kind == ErrorKind::config);
      CHECK(url.error().message == c.message);
      CHECK_FALSE(url.error().hint.empty());
      CHECK((url.error().message + url.error().hint).find("hunter2") == std::string::npos);
    }
  }
}

TEST_CASE("an endpoint is appended to the path, before the query string") {
  const auto plain = BaseUrl::parse("localhost:8072", ApiRoot::plain);
  REQUIRE(plain.has_value());
  CHECK(plain->endpoint("embed") == "http://localhost:8072/embed");
  CHECK(plain->authority() == "localhost:8072");
  CHECK(plain->origin() == "http://localhost:8072");

  const auto versioned =
      BaseUrl::parse("https://host/d/chat/completions?api-version=1&k=s", ApiRoot::versioned);
  REQUIRE(versioned.has_value());
  CHECK(versioned->endpoint("chat/completions") ==
        "https://host/d/chat/completions?api-version=1&k=s");
  CHECK(versioned->display() == "https://host/d");
  CHECK(versioned->origin() == "https://host");
}

TEST_CASE("loopback addresses are recognised") {
  const std::vector<std::string> here = {
      "localhost:1", "http://LOCALHOST", "http://localhost./v1",   "a.localhost",  "127.0.0.1:8000",
      "127.1.2.3",   "[::1]:8000",       "[0:0:0:0:0:0:0:1]:8000", "0.0.0.0:8000", "[::]:8000"};
  for (const std::string& address : here) {
    CAPTURE(address);
    const auto url = BaseUrl::parse(address, ApiRoot::plain);
    REQUIRE(url.has_value());
    CHECK(url->is_loopback());
  }
  const std::vector<std::string> elsewhere = {"host",  "127.0.0.1.example:1", "128.0.0.1",
                                              "[::2]", "localhost.example",   "10.0.0.1"};
  for (const std::string& address : elsewhere) {
    CAPTURE(address);
    const auto url = BaseUrl::parse(address, ApiRoot::plain);
    REQUIRE(url.has_value());
    CHECK_FALSE(url->is_loopback());
  }
}

}  // namespace base_url_test
