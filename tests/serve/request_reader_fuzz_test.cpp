#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "serve/parsed_requests.h"

namespace request_reader_fuzz_test {

using namespace std::string_literals;
using namespace stoka::testing;
using stoka::to_lower;
using stoka::trimmed;

namespace {

// A strict parser of HTTP/1.1 (RFC 9112). next() returns nullopt if there is no complete request.
class StrictParser {
 public:
  explicit StrictParser(std::string_view bytes) : rest_(bytes) {}

  std::optional<std::string> next() {
    while (rest_.starts_with('\r') || rest_.starts_with('\n')) rest_.remove_prefix(1);
    const auto first = line();
    if (!first) return std::nullopt;
    const size_t one = first->find(' '), two = first->rfind(' ');
    if (one == std::string_view::npos || one == two) return std::nullopt;
    HttpRequest out;
    out.method = first->substr(0, one);
    const std::string_view target = first->substr(one + 1, two - one - 1);
    const std::string_view version = first->substr(two + 1);
    if (!is_token(out.method) || !is_visible(target) || target.front() != '/') return std::nullopt;
    if (version != "HTTP/1.1" && version != "HTTP/1.0") return std::nullopt;
    out.minor_version = version.back() - '0';
    const size_t mark = std::min(target.find('?'), target.size());
    out.path = target.substr(0, mark);
    out.query = target.substr(std::min(mark + 1, target.size()));
    if (!fields(out.headers)) return std::nullopt;
    const auto hosts = out.header_values("host").size();
    if (hosts > 1 || (hosts == 0 && out.minor_version == 1)) return std::nullopt;
    const auto lengths = out.header_values("content-length"),
               codings = out.header_values("transfer-encoding");
    if (lengths.size() + codings.size() > 1) return std::nullopt;
    if (!codings.empty() &&
        (to_lower(codings[0]) != "chunked" || out.minor_version == 0 || !chunks(out.body)))
      return std::nullopt;
    if (!lengths.empty()) {
      size_t length = 0;
      const char* const end = lengths[0].data() + lengths[0].size();
      const auto [at, error] = std::from_chars(lengths[0].data(), end, length);
      if (error != std::errc() || at != end || length > rest_.size()) return std::nullopt;
      out.body = rest_.substr(0, length);
      rest_.remove_prefix(length);
    }
    out.keep_alive = keeps_alive(out);
    return shown(out);
  }

 private:
  static bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
    });
  }
  static bool is_visible(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) > ' ' && c != '\x7f';
    });
  }
  static bool is_value(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
      return (static_cast<unsigned char>(c) >= ' ' || c == '\t') && c != '\x7f';
    });
  }
  static bool keeps_alive(const HttpRequest& request) {
    bool close = false, keep = false;
    for (std::string_view value : request.header_values("connection"))
      while (!value.empty()) {
        const std::string_view one = value.substr(0, value.find(','));
        value.remove_prefix(std::min(one.size() + 1, value.size()));
        close = close || to_lower(trimmed(one)) == "close";
        keep = keep || to_lower(trimmed(one)) == "keep-alive";
      }
    return request.minor_version == 1 ? !close : keep;
  }

  std::optional<std::string_view> line() {
    const size_t end = rest_.find("\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view out = rest_.substr(0, end);
    rest_.remove_prefix(end + 2);
    return out;
  }
  bool fields(std::vector<std::pair<std::string, std::string>>& out) {
    for (;;) {
      const auto text = line();
      if (!text) return false;
      if (text->empty()) return true;
      const size_t colon = text->find(':');
      if (colon == std::string_view::npos || !is_token(text->substr(0, colon))) return false;
      std::string_view value = text->substr(colon + 1);
      if (!is_value(value)) return false;
      out.emplace_back(to_lower(text->substr(0, colon)), std::string(trimmed(value)));
    }
  }
  bool chunks(std::string& body) {
    for (;;) {
      const auto head = line();
      if (!head) return false;
      size_t size = 0;
      const char* const end = head->data() + head->size();
      const auto [at, error] = std::from_chars(head->data(), end, size, 16);
      if (error != std::errc() || at == head->data()) return false;
      const std::string_view extension(at, static_cast<size_t>(end - at));
      if (!is_value(extension)) return false;
      if (!trimmed(extension).empty() && trimmed(extension).front() != ';') return false;
      if (size == 0) break;
      if (size > rest_.size() || rest_.substr(size, 2) != "\r\n") return false;
      body += rest_.substr(0, size);
      rest_.remove_prefix(size + 2);
    }
    std::vector<std::pair<std::string, std::string>> trailers;
    // Trailers are dropped, so the reader may unfold them.
    for (;;) {
      const auto text = line();
      if (!text) return false;
      if (text->empty()) return true;
    }
  }

  std::string_view rest_;
};

}  // namespace

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
