#include "net/base_url.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "base/ascii.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::net {
namespace {

struct Cleanup {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

constexpr const char* kExample = "give one like http://localhost:8000";

// Endpoints that a path may end with. If one ends with another, the longer one comes first.
constexpr std::array<std::string_view, 6> kVersionedEndpoints = {
    "/chat/completions", "/completions", "/responses", "/embeddings", "/models", "/rerank"};
constexpr std::array<std::string_view, 4> kPlainEndpoints = {"/embed", "/rerank", "/info",
                                                             "/health"};

// The scheme of an address: "http" for "http://…", empty for "localhost:8000/…".
std::string parse_scheme(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || !text.substr(colon + 1).starts_with('/')) return {};
  const std::string_view name = text.substr(0, colon);
  const auto fits = [](char c) { return is_ascii_alnum(c) || c == '+' || c == '-' || c == '.'; };
  return std::all_of(name.begin(), name.end(), fits) ? to_lower(name) : std::string();
}

// A text such as "address 'ftp://host'", without parts of the address that may be secret.
std::string describe_address(std::string_view pasted) {
  if (pasted.find('@') != std::string_view::npos) return "address";
  const std::string_view shown = pasted.substr(0, std::min<size_t>(pasted.find('?'), 100));
  return fmt::format("address '{}'", text::one_line(text::replace_controls(shown, " ")));
}

tl::unexpected<Error> invalid_address(std::string_view pasted, std::string_view why,
                                      std::string hint = kExample) {
  return fail(ErrorKind::config, fmt::format("the {} {}", describe_address(pasted), why),
              std::move(hint));
}

tl::unexpected<Error> invalid_address(std::string_view pasted, CURLUcode code) {
  switch (code) {
    case CURLUE_USER_NOT_ALLOWED:
      return invalid_address(pasted, "contains a user or a password",
                             "leave it out: a key is given by file, as api_key_file");
    case CURLUE_BAD_PORT_NUMBER:
      return invalid_address(pasted, "has a port that is not a number from 1 to 65535");
    case CURLUE_NO_HOST:
    case CURLUE_BAD_HOSTNAME:
    case CURLUE_BAD_IPV6:
      return invalid_address(pasted, "has no host");
    default:
      return invalid_address(pasted, "cannot be parsed");
  }
}

std::string url_part(CURLU* url, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, 0) != CURLUE_OK) return {};
  std::string out(text);
  curl_free(text);
  return out;
}

// Removes repeated and final slashes: "/a/b" from "//a///b/", and empty for "/".
std::string normalize_path(std::string_view path) {
  std::string out;
  for (const char c : path)
    if (c != '/' || !out.ends_with('/')) out += c;
  while (out.ends_with('/')) out.pop_back();
  return out;
}

// Removes the endpoint from the end of the path and returns it.
std::string_view remove_endpoint(std::string& path, std::span<const std::string_view> endpoints) {
  for (const std::string_view endpoint : endpoints) {
    if (!path.ends_with(endpoint)) continue;
    path.resize(path.size() - endpoint.size());
    return endpoint;
  }
  return {};
}

// Whether a segment looks like "v1" or "v1beta".
bool has_version(std::string_view path) {
  for (size_t at = path.find("/v"); at != std::string_view::npos; at = path.find("/v", at + 1))
    if (at + 2 < path.size() && is_ascii_digit(path[at + 2])) return true;
  return false;
}

}  // namespace

Result<BaseUrl> BaseUrl::parse(std::string_view pasted, ApiRoot root) {
  pasted = trimmed(pasted);
  if (pasted.empty()) return fail(ErrorKind::config, "the address is empty", kExample);
  if (pasted.find_first_of(kAsciiWhitespace) != std::string_view::npos)
    return invalid_address(pasted, "contains white space");
  size_t controls = 0;
  text::replace_controls(pasted, "", &controls);
  if (controls > 0 || !text::is_valid_utf8(pasted))
    return invalid_address(pasted, "contains control characters");
  const std::string scheme = parse_scheme(pasted);
  if (!scheme.empty() && scheme != "http" && scheme != "https")
    return invalid_address(pasted, "is neither http nor https");

  if (pasted.starts_with('/') && !pasted.starts_with("//"))
    return invalid_address(pasted, CURLUE_NO_HOST);

  std::string whole(pasted);
  if (scheme.empty()) whole.insert(0, pasted.starts_with("//") ? "http:" : "http://");
  const std::unique_ptr<CURLU, Cleanup> url(curl_url());
  if (!url) return fail(ErrorKind::internal, "no memory for an address");
  const CURLUcode code =
      curl_url_set(url.get(), CURLUPART_URL, whole.c_str(), CURLU_DISALLOW_USER | CURLU_URLENCODE);
  if (code != CURLUE_OK) return invalid_address(pasted, code);
  const std::string port = url_part(url.get(), CURLUPART_PORT);
  if (port == "0") return invalid_address(pasted, CURLUE_BAD_PORT_NUMBER);

  BaseUrl out;
  out.scheme_ = to_lower(url_part(url.get(), CURLUPART_SCHEME));
  out.authority_ = to_lower(url_part(url.get(), CURLUPART_HOST));
  if (const std::string zone = url_part(url.get(), CURLUPART_ZONEID); !zone.empty())
    out.authority_.insert(out.authority_.size() - 1, "%25" + zone);
  if (!port.empty()) out.authority_ += ":" + port;
  if (const std::string query = url_part(url.get(), CURLUPART_QUERY); !query.empty())
    out.query_ = "?" + query;

  out.path_ = normalize_path(url_part(url.get(), CURLUPART_PATH));
  const std::string_view endpoint = remove_endpoint(out.path_, kVersionedEndpoints);
  if (endpoint.empty()) remove_endpoint(out.path_, kPlainEndpoints);
  if (root == ApiRoot::versioned) {
    if (endpoint.empty() && !has_version(out.path_)) out.path_ += "/v1";
  } else if (!endpoint.empty() && endpoint != "/rerank" && out.path_.ends_with("/v1")) {
    // The address may be that of the OpenAI endpoints under /v1, which such a server has as well.
    out.path_.resize(out.path_.size() - 3);
  }
  return out;
}

std::string BaseUrl::endpoint(std::string_view name) const {
  return fmt::format("{}/{}{}", display(), name, query_);
}

bool BaseUrl::is_loopback() const {
  const bool bracketed = authority_.starts_with('[');
  std::string_view host = authority_;
  host = host.substr(0, bracketed ? host.find(']') + 1 : host.find(':'));
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  if (host == "[::1]" || host == "[::]" || host == "0.0.0.0") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos;
}

}  // namespace stoka::net
