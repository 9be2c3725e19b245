#include "serve/http.h"

#include <fmt/format.h>

#include <array>
#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/json.h"
#include "net/reason_phrase.h"

namespace stoka::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Whether the value has no control character. A control character could end a header line.
bool is_header_value(std::string_view value) {
  for (const char c : value)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') return false;
  return true;
}

// The current time as "Sun, 06 Nov 1994 08:49:37 GMT", formatted once a second.
std::string_view http_date() {
  thread_local time_t formatted = 0;
  thread_local std::array<char, 32> text{};
  const time_t seconds = std::time(nullptr);
  if (seconds != formatted) {
    tm utc{};
    gmtime_r(&seconds, &utc);
    constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto end = fmt::format_to_n(
        text.data(), text.size(), "{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday],
        utc.tm_mday, kMonths[utc.tm_mon], 1900 + utc.tm_year, utc.tm_hour, utc.tm_min, utc.tm_sec);
    *end.out = '\0';
    formatted = seconds;
  }
  return text.data();
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

std::vector<std::string_view> HttpRequest::header_values(std::string_view name) const {
  std::vector<std::string_view> out;
  for (const auto& [key, value] : headers)
    if (key == name) out.push_back(value);
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size();
    const int high = escape ? hex_digit_value(text[i + 1]) : -1;
    const int low = escape ? hex_digit_value(text[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      out += static_cast<char>(16 * high + low);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string HttpRequest::parameter(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    if (percent_decoded(pair.substr(0, equals)) == name)
      return percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
  }
  return {};
}

std::string response_head(const HttpResponse& response, Framing framing, size_t length,
                          bool keep_alive) {
  std::string out;
  const auto line = [&](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", response.status,
                 net::reason_phrase(response.status));
  if (!response.content_type.empty()) line("Content-Type", response.content_type);
  if (framing == Framing::sized && response.status != 204 && response.status != 304)
    line("Content-Length", fmt::format_int(length).c_str());
  if (framing == Framing::chunked) line("Transfer-Encoding", "chunked");
  for (const auto& [name, value] : response.headers)
    if (is_header_value(value)) line(name, value);
  line("Date", http_date());
  line("Connection", keep_alive ? "keep-alive" : "close");
  line("Server", "stoka");
  out += "\r\n";
  return out;
}

std::string problem_details_json(int status, const Error& error, std::string_view field,
                                 std::string_view request_id) {
  OrderedJson body = {{"type", "about:blank"},
                      {"title", net::reason_phrase(status)},
                      {"status", status},
                      {"code", to_string(error.kind)},
                      {"detail", error.message}};
  if (!error.hint.empty()) body["hint"] = error.hint;
  if (!field.empty()) body["field"] = field;
  body["request_id"] = request_id;
  return to_json_text(body);
}

std::optional<std::chrono::seconds> retry_after(const Error& error) {
  if (http_status(error.kind) != 503) return std::nullopt;
  if (error.retry_after > 0) return std::chrono::seconds(error.retry_after);
  return std::chrono::seconds(error.kind == ErrorKind::busy ? 2 : 5);
}

}  // namespace stoka::serve
