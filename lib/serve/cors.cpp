#include "serve/cors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "text/normalize.h"

namespace stoka::serve {
namespace {

constexpr std::string_view kMethods = "GET, POST";
constexpr std::string_view kRequestHeaders =
    "authorization, content-type, traceparent, x-request-id";
constexpr std::string_view kMaxAge = "600";  // in seconds; browsers cache for at most 7200

bool is_host_sign(char c) {
  return is_ascii_lower(c) || is_ascii_digit(c) || c == '.' || c == '-' || c == '_';
}

// Whether all characters may occur in a host name, an IPv4 address or an IPv6 address in brackets.
bool is_host(std::string_view text) {
  if (text.size() > 2 && text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    return text.find_first_not_of("0123456789abcdef:.") == std::string_view::npos;
  }
  return !text.empty() && std::all_of(text.begin(), text.end(), is_host_sign);
}

bool is_origin_port(std::string_view text) {
  if (text.empty() || text.size() > 5 || text.front() == '0') return false;
  if (!std::all_of(text.begin(), text.end(), is_ascii_digit)) return false;
  return text.size() < 5 || text <= "65535";
}

// Returns the origin in the form in which browsers send it.
Result<std::string> normalised(std::string_view given) {
  const auto error = [&](std::string_view what, std::string hint) {
    return fail(ErrorKind::config,
                fmt::format("\"{}\" is not a valid origin: {}", text::one_line(given), what),
                std::move(hint));
  };
  const std::string example = "write it as https://example.com or http://localhost:4321";
  const std::string origin = to_lower(trimmed(text::one_line(given)));
  // The error message does not repeat the origin, which may contain a password.
  if (origin.find('@') != std::string::npos)
    return fail(ErrorKind::config, "an allowed origin names a user", example);
  if (origin == "null") return error("browsers send it for every page that has no origin", example);
  if (origin.find('*') != std::string::npos)
    return error("a wildcard cannot be a part of it",
                 "write each origin in full, or \"*\" alone for any");
  const size_t scheme_end = origin.find("://");
  if (scheme_end == std::string::npos) {
    const bool plain = origin.find_first_of("/?#") == std::string::npos && !origin.empty();
    return error("it has no scheme",
                 plain ? fmt::format("write https://{0} or http://{0}", origin) : example);
  }
  const std::string_view scheme = std::string_view(origin).substr(0, scheme_end);
  std::string_view host = std::string_view(origin).substr(scheme_end + 3);
  if (scheme != "http" && scheme != "https") return error("it is neither http nor https", example);
  if (const size_t path = host.find_first_of("/?#"); path != std::string_view::npos)
    return error("it has something after the host and port",
                 "write " + origin.substr(0, scheme_end + 3 + path));
  const size_t colon = host.rfind(':');
  std::string_view port;
  if (colon != std::string_view::npos && !host.ends_with(']')) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
    if (!is_origin_port(port)) return error("its port is not a number from 1 to 65535", example);
  }
  if (!is_host(host))
    return error("its host is not a valid host name",
                 "write international names as xn--…, as browsers do");
  std::string out = fmt::format("{}://{}", scheme, host);
  if (!port.empty() && port != (scheme == "http" ? "80" : "443")) out += fmt::format(":{}", port);
  return out;
}

bool is_in_list(std::string_view list, std::string_view name) {
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(", ", at), list.size());
    if (list.substr(at, end - at) == name) return true;
    at = end + 2;
  }
  return false;
}

}  // namespace

Result<Cors> Cors::make(const std::vector<std::string>& allowed_origins) {
  Cors out;
  for (const std::string& given : allowed_origins) {
    if (trimmed(given) == "*") {
      out.any_ = true;
      continue;
    }
    STOKA_ASSIGN(std::string origin, normalised(given));
    out.origins_.insert(std::move(origin));
  }
  if (out.any_ && !out.origins_.empty())
    return fail(ErrorKind::config, "\"*\" among allowed origins makes the others meaningless",
                "write \"*\" alone, or leave it out");
  return out;
}

bool Cors::allows(std::string_view origin) const { return any_ || origins_.contains(origin); }

Cors::Headers Cors::origin_headers(std::string_view origin) const {
  Headers out;
  if (allows(origin)) out.emplace_back("Access-Control-Allow-Origin", any_ ? "*" : origin);
  // Vary is also sent for an origin that is not allowed, so that caches keep responses apart.
  if (!origins_.empty()) out.emplace_back("Vary", "Origin");
  return out;
}

Cors::Headers Cors::headers(std::string_view origin) const {
  Headers out = origin_headers(origin);
  if (allows(origin))
    out.emplace_back("Access-Control-Expose-Headers",
                     "RateLimit-Limit, RateLimit-Remaining, Retry-After, X-Request-Id");
  return out;
}

std::optional<Cors::Headers> Cors::preflight(std::string_view origin,
                                             std::string_view requested_method,
                                             std::string_view requested_headers) const {
  if (origin.empty() || !allows(origin)) return std::nullopt;
  if (!is_in_list(kMethods, requested_method)) return std::nullopt;
  for (bool more = true; more;) {
    const size_t comma = requested_headers.find(',');
    more = comma != std::string_view::npos;
    const std::string name = to_lower(trimmed(requested_headers.substr(0, comma)));
    if (!name.empty() && !is_in_list(kRequestHeaders, name)) return std::nullopt;
    if (more) requested_headers.remove_prefix(comma + 1);
  }
  Headers out = origin_headers(origin);
  out.emplace_back("Access-Control-Allow-Methods", kMethods);
  out.emplace_back("Access-Control-Allow-Headers", kRequestHeaders);
  out.emplace_back("Access-Control-Max-Age", kMaxAge);
  return out;
}

}  // namespace stoka::serve
