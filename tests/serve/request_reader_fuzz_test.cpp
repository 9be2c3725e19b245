#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "serve/strict_parser.h"

namespace request_reader_fuzz_test {

using namespace stoka::testing;

TEST_CASE("a mutated request is accepted only if a strict parser reads the same") {
  const std::string seeds[] = {
      request_of("/a?b") + request_of("/c"),
      with("Content-Length: 5\r\n", "hello") + request_of("/next"),
      chunked("5\r\nhello\r\n3;a=b\r\nabc\r\n0\r\nT: u\r\n\r\n") + request_of("/next"),
      with("Content-Length: 34\r\n", request_of("/inside")) + request_of("/next"),
      "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + request_of("/next"),
      with("Transfer-Encoding: chunked\r\nExpect: 100-continue\r\nX: y\r\n", "1\r\na\r\n0\r\n\r\n"),
  };
  const std::string_view pieces[] = {"\r\n",
                                     "\n",
                                     "\r",
                                     "\0",
                                     " ",
                                     "\t",
                                     ":",
                                     ",",
                                     ";",
                                     "0",
                                     "1",
                                     "f",
                                     "\xFF",
                                     "\r\n\r\n",
                                     "Host: y\r\n",
                                     "\r\n a",
                                     "0x",
                                     "+",
                                     "-",
                                     "chunked",
                                     "Content-Length: 3\r\n",
                                     "identity",
                                     "HTTP/1.",
                                     "GET",
                                     " / ",
                                     "http",
                                     "0\r\n\r\n",
                                     "Transfer-Encoding: chunked\r\n",
                                     "_",
                                     "\x7f",
                                     "\"",
                                     "\x0b",
                                     "3\r\n",
                                     "close",
                                     "Transfer-Encoding : chunked\r\n"};
  std::mt19937 random(20261121);
  const auto below = [&](size_t n) { return random() % n; };
  size_t taken = 0, refused = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string bytes = seeds[below(std::size(seeds))];
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      const size_t at = below(bytes.size());
      const std::string_view piece = pieces[below(std::size(pieces))];
      switch (below(4)) {
        case 0:
          bytes.insert(at, piece.empty() ? std::string_view("\0", 1) : piece);
          break;
        case 1:
          bytes.replace(at, std::min(piece.size(), bytes.size() - at), piece);
          break;
        case 2:
          bytes.erase(at, 1 + below(4));
          break;
        default:
          bytes[at] = static_cast<char>(below(256));
      }
      if (bytes.empty()) bytes = "x";
    }
    const Outcome whole = read(bytes);
    StrictParser strict(bytes);
    for (const std::string& request : whole.requests) {
      const auto expected = strict.next();
      if (expected == request) continue;
      CAPTURE(bytes);
      FAIL_CHECK("read: " << request << "\nstrict: " << expected.value_or("none"));
      break;
    }
    taken += whole.requests.size();
    refused += whole.state == State::refused;
    const size_t cut = below(bytes.size());
    const Outcome parts =
        read({std::string_view(bytes).substr(0, cut), std::string_view(bytes).substr(cut)});
    if (!(parts == whole)) {
      CAPTURE(bytes);
      FAIL_CHECK("whole: " << shown(whole) << "\ncut at " << cut << ": " << shown(parts));
    }
  }
  // The test is only meaningful if both happen often.
  CHECK(taken > 1000);
  CHECK(refused > 1000);
}

}  // namespace request_reader_fuzz_test
