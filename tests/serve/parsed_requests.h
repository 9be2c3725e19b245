// Parses bytes with a RequestReader in any split, and compares the results.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/request_reader.h"

namespace stoka::testing {

using stoka::serve::HttpRequest;
using stoka::serve::RequestLimits;
using stoka::serve::RequestReader;
using State = RequestReader::State;

// Small, so that every split of an input can be tried.
inline constexpr RequestLimits kSmall{256, 10, 64};

inline std::string shown(const HttpRequest& request) {
  std::string out = fmt::format("{} {} ? {} 1.{} {}", request.method, request.path, request.query,
                                request.minor_version, request.keep_alive ? "keep" : "close");
  // Headers of one name are put next to each other, because Beast keeps them so.
  std::vector<std::pair<std::string, std::string>> headers = request.headers;
  std::stable_sort(headers.begin(), headers.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, value] : headers) out += fmt::format(" | {}={}", name, value);
  return out + " # " + request.body;
}

// The result of parsing some bytes.
struct Outcome {
  std::vector<std::string> requests;
  State state = State::idle;
  int refused = 0;
  std::string why;
  bool operator==(const Outcome&) const = default;
};

inline std::string shown(const Outcome& outcome) {
  std::string out;
  for (const std::string& request : outcome.requests) out += request + "\n";
  return out + fmt::format("state {}, {} {}", static_cast<int>(outcome.state), outcome.refused,
                           outcome.why);
}

inline Outcome read(const std::vector<std::string_view>& pieces,
                    const RequestLimits& limits = kSmall) {
  RequestReader reader(limits);
  Outcome out;
  for (const std::string_view piece : pieces) {
    reader.push(piece);
    while (reader.state() == State::complete) out.requests.push_back(shown(reader.take()));
    if (reader.state() == State::refused) break;
  }
  out.state = reader.state();
  if (out.state == State::refused) {
    out.refused = reader.refusal().status;
    out.why = reader.refusal().why;
  }
  return out;
}

inline Outcome read(std::string_view bytes, const RequestLimits& limits = kSmall) {
  return read(std::vector<std::string_view>{bytes}, limits);
}

// The outcome, which must be the same in every split.
inline Outcome read_in_any_split(std::string_view bytes, const RequestLimits& limits = kSmall) {
  const Outcome whole = read(bytes, limits);
  const auto same = [&](const std::vector<std::string_view>& pieces) {
    const Outcome cut = read(pieces, limits);
    if (cut == whole) return true;
    FAIL_CHECK("whole: " << shown(whole) << "\ncut: " << shown(cut) << "\nafter "
                         << pieces.front().size());
    return false;
  };
  for (size_t i = 0; i <= bytes.size(); ++i)
    if (!same({bytes.substr(0, i), bytes.substr(i)})) break;
  std::vector<std::string_view> single;
  for (size_t i = 0; i < bytes.size(); ++i) single.push_back(bytes.substr(i, 1));
  if (!single.empty()) same(single);
  return whole;
}

inline std::string with(std::string_view headers, std::string_view body = {}) {
  return fmt::format("POST /a HTTP/1.1\r\nHost: x\r\n{}\r\n{}", headers, body);
}

inline std::string chunked(std::string_view body) {
  return with("Transfer-Encoding: chunked\r\n", body);
}

inline std::string request_of(std::string_view target) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", target);
}

}  // namespace stoka::testing
