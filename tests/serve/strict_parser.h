// A second parser of HTTP requests, with which RequestReader is compared.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "serve/parsed_requests.h"

namespace stoka::testing {

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
    std::vector<std::string_view> values = request.header_values("connection");
    // Beast takes Proxy-Connection for the same.
    for (const std::string_view value : request.header_values("proxy-connection"))
      values.push_back(value);
    for (std::string_view value : values)
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

}  // namespace stoka::testing
