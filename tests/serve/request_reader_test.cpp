#include "serve/request_reader.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "serve/parsed_requests.h"

namespace request_reader_test {

using namespace std::string_literals;
using namespace stoka::testing;

TEST_CASE("valid requests are parsed the same in any split") {
  struct Case {
    std::string name;
    std::string bytes;
    std::vector<std::string> requests;
    State state = State::idle;
  };
  const std::string plain = "GET /a ?  1.1 keep | host=x # ";
  const Case cases[] = {
      {"a request", request_of("/a"), {plain}},
      {"a query", request_of("/a?b=c?d"), {"GET /a ? b=c?d 1.1 keep | host=x # "}},
      {"an empty query", request_of("/a?"), {plain}},
      {"a target of UTF-8", request_of("/\xC3\xA9"), {"GET /\xC3\xA9 ?  1.1 keep | host=x # "}},
      {"names in any case, blanks around values",
       "GET /a HTTP/1.1\r\nHOST: \t x \t\r\nX-Y:\r\n\r\n",
       {"GET /a ?  1.1 keep | host=x | x-y= # "}},
      {"a header twice",
       "GET /a HTTP/1.1\r\nHost: x\r\nV: 1\r\nW: 3\r\nv: 2\r\n\r\n",
       {"GET /a ?  1.1 keep | host=x | v=1 | v=2 | w=3 # "}},
      {"a body",
       with("Content-Length: 3\r\n", "abc"),
       {"POST /a ?  1.1 keep | content-length=3 | host=x # abc"}},
      {"an empty body",
       with("Content-Length: 0\r\n"),
       {"POST /a ?  1.1 keep | content-length=0 | host=x # "}},
      {"a POST without any length", with(""), {"POST /a ?  1.1 keep | host=x # "}},
      {"a body with everything in it",
       with("Content-Length: 12\r\n", "\r\n\r\nGET /\0\xFF\n"s),
       {"POST /a ?  1.1 keep | content-length=12 | host=x # \r\n\r\nGET /\0\xFF\n"s}},
      {"chunks",
       chunked("3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n"),
       {"POST /a ?  1.1 keep | host=x | transfer-encoding=chunked # abc0123456789"}},
      {"no chunks",
       chunked("0\r\n\r\n"),
       {"POST /a ?  1.1 keep | host=x | transfer-encoding=chunked # "}},
      {"Chunked",
       with("Transfer-Encoding: Chunked \r\n", "1\r\na\r\n0\r\n\r\n"),
       {"POST /a ?  1.1 keep | host=x | transfer-encoding=Chunked # a"}},
      // A proxy may not have checked trailers, so they are dropped.
      {"trailers",
       chunked("1\r\na\r\n0\r\nX-Forwarded-For: 1.2.3.4\r\nConnection: close\r\nHost: y\r\n\r\n"),
       {"POST /a ?  1.1 keep | host=x | transfer-encoding=chunked # a"}},
      {"Connection: close",
       "GET /a HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n",
       {"GET /a ?  1.1 close | connection=x, Close | host=x # "}},
      {"Connection in two headers",
       "GET /a HTTP/1.1\r\nHost: x\r\nConnection: x\r\nConnection: close\r\n\r\n",
       {"GET /a ?  1.1 close | connection=x | connection=close | host=x # "}},
      {"HTTP/1.0", "GET /a HTTP/1.0\r\n\r\n", {"GET /a ?  1.0 close # "}},
      {"HTTP/1.0 that keeps alive",
       "GET /a HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
       {"GET /a ?  1.0 keep | connection=keep-alive | host=x # "}},
      {"empty lines first", "\r\n\r\n" + request_of("/a"), {plain}},
      {"empty lines alone", "\r\n\r\n\r\n", {}},
      {"three pipelined requests",
       request_of("/a") + with("Content-Length: 3\r\n", "abc") + "\r\n" + request_of("/a"),
       {plain, "POST /a ?  1.1 keep | content-length=3 | host=x # abc", plain}},
      {"a chunked request and another one",
       chunked("1\r\na\r\n0\r\n\r\n") + request_of("/a"),
       {"POST /a ?  1.1 keep | host=x | transfer-encoding=chunked # a", plain}},
      {"one request and half of another", request_of("/a") + "GET /b", {plain}, State::head},
      {"the half of a body", with("Content-Length: 3\r\n", "ab"), {}, State::body},
      {"the half of a chunk", chunked("3\r\nab"), {}, State::body},
      {"no end after the last chunk", chunked("0\r\n"), {}, State::body},
      {"a strange method",
       "PROPFIND /a HTTP/1.1\r\nHost: x\r\n\r\n",
       {"PROPFIND /a ?  1.1 keep | host=x # "}},
      {"lines that end in LF only", "GET / HTTP/1.1\nHost: x\n\n", {}, State::head},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Outcome outcome = read_in_any_split(c.bytes);
    CHECK(outcome.requests == c.requests);
    CHECK(outcome.refused == 0);
    CHECK(outcome.state == c.state);
  }
}

TEST_CASE("ambiguous and malformed requests are refused in any split") {
  struct Case {
    std::string name;
    std::string bytes;
    int status = 400;
  };
  const std::string many = [] {
    std::string out = "GET / HTTP/1.1\r\nHost: x\r\n";
    for (int i = 0; i < 10; ++i) out += fmt::format("a{}: b\r\n", i);
    return out + "\r\n";
  }();
  const Case cases[] = {
      {"no Host", "GET / HTTP/1.1\r\n\r\n"},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"},
      {"two Hosts on 1.0", "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"},
      {"a folded line", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"},
      {"a line folded by a tab", "GET / HTTP/1.1\r\nHost: x\r\n\tc: d\r\n\r\n"},
      {"a first line that is folded", "GET / HTTP/1.1\r\n Host: x\r\n\r\n"},
      {"two lengths", with("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
      {"the other way round",
       with("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n")},
      {"two Content-Lengths", with("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd")},
      {"twice the same", with("Content-Length: 3\r\nContent-Length: 3\r\n", "abc")},
      {"in one line", with("Content-Length: 3, 3\r\n", "abc")},
      {"a Content-Length below zero", with("Content-Length: -1\r\n")},
      {"with a sign", with("Content-Length: +3\r\n", "abc")},
      {"in hexadecimal", with("Content-Length: 0x3\r\n", "abc")},
      {"no number", with("Content-Length: three\r\n", "abc")},
      {"empty", with("Content-Length:\r\n")},
      {"2^64", with("Content-Length: 18446744073709551616\r\n")},
      {"an unknown coding", with("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 501},
      {"gzip before", with("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501},
      {"chunked twice", with("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n"), 501},
      {"chunked in two headers",
       with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
      {"identity first",
       with("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 501},
      {"an empty coding", with("Transfer-Encoding:\r\n"), 501},
      {"chunks on 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {"a chunk without a size", chunked("\r\nabc\r\n")},
      {"a size that is not a number", chunked("g\r\nabc\r\n")},
      {"a size with 0x", chunked("0x3\r\nabc\r\n0\r\n\r\n")},
      {"a size below zero", chunked("-3\r\nabc\r\n")},
      {"a size of 2^64", chunked("10000000000000000\r\nabc\r\n")},
      {"a chunk that is longer than its size", chunked("3\r\nabcd\r\n0\r\n\r\n")},
      {"a chunk that ends in LF", chunked("3\r\nabc\n0\r\n\r\n")},
      {"a size that ends in LF", chunked("3\nabc\r\n0\r\n\r\n")},
      {"LF in an extension", chunked("3;a\nb\r\nabc\r\n0\r\n\r\n")},
      {"more headers than ten", many, 431},
      {"a long address", request_of("/" + std::string(300, 'a')), 414},
      {"an address without an end", "GET /" + std::string(300, 'a'), 414},
      {"a head that is too large", with("A: " + std::string(300, 'a') + "\r\n"), 431},
      {"a head without an end", "GET / HTTP/1.1\r\nA: " + std::string(300, 'a'), 431},
      {"a Content-Length above the limit", with("Content-Length: 65\r\n"), 413},
      {"a Content-Length far above the limit", with("Content-Length: 18446744073709551615\r\n"),
       413},
      {"a chunk above the limit", chunked("41\r\na"), 413},
      {"chunks that are together above the limit",
       chunked("21\r\n" + std::string(33, 'a') + "\r\n20\r\n"), 413},
      {"a long extension", chunked("1;a=" + std::string(256, 'a') + "\r\na\r\n0\r\n\r\n"), 431},
      {"long trailers", chunked("0\r\nA: " + std::string(256, 'a') + "\r\n\r\n"), 431},
      {"an invalid trailer", chunked("0\r\n: b\r\n\r\n")},
      {"a NUL in a value", with("A: b\0c\r\n"s)},
      {"a NUL in a name", with("A\0: b\r\n"s)},
      {"a NUL in the address", request_of("/\0"s)},
      {"LF in a head", "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n"},
      {"LF after the request line", "GET / HTTP/1.1\nHost: x\r\n\r\n", 505},
      {"CR in a value", with("A: b\rc\r\n")},
      {"a blank before the colon", with("A : b\r\n")},
      {"no colon", with("A\r\n")},
      {"no name", with(": b\r\n")},
      {"HTTP/2.0", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
      {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: x\r\n\r\n", 505},
      {"HTTP/0.9", "GET /\r\n\r\n"},
      {"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"http/1.1", "GET / http/1.1\r\nHost: x\r\n\r\n", 505},
      {"an address with a host", request_of("http://x/")},
      {"an asterisk", request_of("*")},
      {"no address", "GET  HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"two blanks", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"a blank after it", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 505},
      {"a tunnel", "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"no method", " / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"an unknown expectation", with("Expect: more\r\nContent-Length: 1\r\n", "a"), 417},
      {"TLS", "\x16\x03\x01\x02\x00\x01\r\n\r\n"s},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Outcome outcome = read_in_any_split(c.bytes + request_of("/smuggled"));
    CHECK(outcome.requests.empty());
    CHECK(outcome.refused == c.status);
    CHECK_FALSE(outcome.why.empty());
    CHECK(outcome.why.find('\n') == std::string::npos);
    // It is also refused after a valid request.
    CHECK(read(request_of("/") + c.bytes).refused == c.status);
  }
}

TEST_CASE("a request at a limit is accepted and a larger one is refused, in any split") {
  const std::string request = request_of("/aaaa");
  for (const size_t limit : {request.size() - 1, request.size(), request.size() + 1}) {
    CAPTURE(limit);
    const bool fits = request.size() <= limit;
    CHECK(read_in_any_split(request, {limit, 10, 64}).refused == (fits ? 0 : 431));
  }
  const std::string_view line = std::string_view(request).substr(0, request.find('\r'));
  CHECK(read_in_any_split(request, {line.size() + 1, 10, 64}).refused == 431);
  CHECK(read_in_any_split(request, {line.size(), 10, 64}).refused == 414);

  const std::string two = "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\n";
  CHECK(read_in_any_split(two, {256, 2, 64}).refused == 0);
  CHECK(read_in_any_split(two, {256, 1, 64}).refused == 431);

  const std::string sized = with("Content-Length: 5\r\n", "abcde");
  CHECK(read_in_any_split(sized, {256, 10, 5}).refused == 0);
  CHECK(read_in_any_split(sized, {256, 10, 4}).refused == 413);
  for (const size_t length : {248u, 249u}) {
    const std::string trailers = "0\r\nA:" + std::string(length - 1, 'a') + "\r\n\r\n";
    CAPTURE(trailers.size());
    const bool fits = trailers.size() <= 256;
    CHECK(read_in_any_split(chunked(trailers)).refused == (fits ? 0 : 431));
  }
  const std::string chunks = chunked("2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n");
  CHECK(read_in_any_split(chunks, {256, 10, 5}).refused == 0);
  CHECK(read_in_any_split(chunks, {256, 10, 4}).refused == 413);
}

TEST_CASE("the default limits of a request are enforced") {
  const RequestLimits limits;
  CHECK(read(request_of("/" + std::string(8000, 'a')), limits).requests.size() == 1);
  CHECK(read(request_of("/" + std::string(9000, 'a')), limits).refused == 414);
  CHECK(read(with("A: " + std::string(9000, 'a') + "\r\n"), limits).refused == 431);
  std::string fields;
  for (int i = 0; i < 99; ++i) fields += fmt::format("a{}: b\r\n", i);
  CHECK(read(with(fields), limits).requests.size() == 1);
  CHECK(read(with(fields + "z: b\r\n"), limits).refused == 431);
  const std::string most(65536, 'a');
  CHECK(read(with("Content-Length: 65536\r\n", most), limits).requests.size() == 1);
  CHECK(read(with("Content-Length: 65537\r\n"), limits).refused == 413);
  CHECK(read(chunked("10000\r\n" + most + "\r\n0\r\n\r\n"), limits).requests.size() == 1);
  CHECK(read(chunked("10000\r\n" + most + "\r\n1\r\n"), limits).refused == 413);
}

TEST_CASE("bytes that cannot become a request are not kept") {
  RequestReader reader;
  for (int i = 0; i < 1000; ++i) reader.push(std::string(1000, '\n'));
  CHECK(reader.state() == State::idle);
  CHECK(reader.buffered() == 0);
  reader.push(chunked("1;"));
  for (int i = 0; i < 1000 && reader.state() == State::body; ++i)
    reader.push(std::string(1000, 'a'));
  CHECK(reader.state() == State::refused);
  CHECK(reader.buffered() < 20000);
}

TEST_CASE("expects_continue is true once, and only if the body is still to come") {
  const std::string head = with("Content-Length: 3\r\nExpect: 100-Continue\r\n");
  {
    RequestReader reader;
    reader.push(std::string_view(head).substr(0, 20));
    CHECK_FALSE(reader.expects_continue());
    reader.push(std::string_view(head).substr(20));
    CHECK(reader.expects_continue());
    CHECK_FALSE(reader.expects_continue());
    reader.push("abc");
    REQUIRE(reader.state() == State::complete);
    CHECK_FALSE(reader.expects_continue());
    reader.take();
    reader.push(head);
    CHECK(reader.expects_continue());
  }
  for (const std::string& bytes :
       {head + "abc", with("Expect: 100-continue\r\n"), with("Content-Length: 3\r\n"),
        with("Content-Length: 1000000\r\nExpect: 100-continue\r\n"),
        "POST / HTTP/1.0\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"s}) {
    CAPTURE(bytes);
    RequestReader reader;
    reader.push(bytes);
    CHECK_FALSE(reader.expects_continue());
  }
}

TEST_CASE("bytes after a request are parsed when it is taken") {
  RequestReader reader;
  CHECK(reader.push(request_of("/a") + request_of("/b") + "GET /c") == State::complete);
  CHECK(reader.buffered() == request_of("/b").size() + 6);
  CHECK(reader.take().path == "/a");
  CHECK(reader.state() == State::complete);
  CHECK(reader.take().path == "/b");
  CHECK(reader.state() == State::head);
  CHECK(reader.push(" HTTP/1.1\r\nHost: x\r\n\r\n") == State::complete);
  CHECK(reader.take().path == "/c");
  CHECK(reader.state() == State::idle);
}

}  // namespace request_reader_test
