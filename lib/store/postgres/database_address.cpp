#include "store/postgres/database_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::store::postgres {
namespace {

constexpr const char* kExample = "give one like postgres://user:password@host:5432/database";

// Keepalives find a dead server within seconds and leave an idle one alone. There is no default for
// target_session_attrs: with a single host it could only prevent reading from a standby.
constexpr std::pair<std::string_view, std::string_view> kDefaultParameters[] = {
    {"connect_timeout", "5"},      {"keepalives_idle", "30"},
    {"keepalives_interval", "5"},  {"keepalives_count", "3"},
    {"tcp_user_timeout", "10000"}, {"fallback_application_name", "stoka"},
};
// A parameter that is always appended: libpq uses the last value, and all text of stoka is UTF-8.
constexpr std::string_view kEncoding = "client_encoding=UTF8";

constexpr std::array<std::string_view, 5> kSecretKeys = {
    "password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"};

// Decodes percent escapes; returns nothing if one of them is malformed or encodes NUL.
std::optional<std::string> decoded(std::string_view typed) {
  std::string out;
  for (size_t at = 0; at < typed.size(); ++at) {
    if (typed[at] != '%') {
      out += typed[at];
      continue;
    }
    if (typed.size() - at < 3) return std::nullopt;
    const int high = hex_digit_value(typed[at + 1]), low = hex_digit_value(typed[at + 2]);
    if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return out;
}

// Removes and returns the text before the first character of `ends`; that character is removed too.
std::string_view take_until(std::string_view& text, std::string_view ends) {
  const size_t at = std::min(text.find_first_of(ends), text.size());
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return out;
}

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port < 65536;
}

// Returns what is wrong with a text "host:port,[::1]:port,…"; empty if it is correct.
std::string_view find_host_error(std::string_view hosts) {
  while (!hosts.empty()) {
    std::string_view host = take_until(hosts, ",");
    if (host.starts_with('[')) {
      const size_t close = host.find(']');
      if (close == host.npos || close == 1) return "has no ']' after the host's address";
      host.remove_prefix(close + 1);
      if (!host.empty() && host.front() != ':') return "has no ':' after the host's address";
    }
    take_until(host, ":");
    if (!host.empty() && !is_port(host)) return "has a port that is not a number from 1 to 65535";
  }
  return {};
}

// The error message does not contain the URL, because its malformed part may be the password.
tl::unexpected<Error> refused(std::string_view why, std::string hint = kExample) {
  return fail(ErrorKind::config, fmt::format("the address of the database {}", why),
              std::move(hint));
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

}  // namespace

Result<DatabaseAddress> DatabaseAddress::parse(std::string_view url) {
  url = trimmed(url);
  const size_t head = url.find("://");
  const std::string scheme = to_lower(url.substr(0, std::min(head, url.size())));
  if (head == url.npos || (scheme != "postgres" && scheme != "postgresql"))
    return refused("does not begin with postgres://");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(url.begin(), url.end(), is_control) || !text::is_valid_utf8(url))
    return refused("has control characters in it");
  if (url.find(' ') != url.npos) return refused("has a space in it", "write a space as %20");
  if (!decoded(url))
    return refused("has a '%' that does not begin an escape sequence", "write a '%' as %25");

  DatabaseAddress out;
  std::string_view rest = url.substr(head + 3);
  // As in libpq, user and password end with an '@' before the first '/'.
  if (const size_t at = rest.find_first_of("@/"); at != rest.npos && rest[at] == '@') {
    std::string_view password = rest.substr(0, at);
    out.user_ = text::one_line(*decoded(take_until(password, ":")));
    out.keep_secret(password);
    rest.remove_prefix(at + 1);
  }
  if (rest.find('@') != rest.npos)
    return refused("has one '@' too many",
                   "write '@' and '/' in the user and the password as %40 and %2F");

  const size_t question = std::min(rest.find('?'), rest.size());
  const std::string_view query = rest.substr(std::min(question + 1, rest.size()));
  std::string_view path = rest.substr(0, question);
  const std::string_view authority = take_until(path, "/");
  STOKA_TRY(out.read_authority(authority, path));
  const std::vector<std::string> keys = out.read_query(query);
  out.shown_ =
      fmt::format("postgres://{}{}{}", out.hosts_, out.database_.empty() ? "" : "/", out.database_);
  out.connection_ = fmt::format("{}://{}", scheme, url.substr(head + 3));
  if (question == rest.size()) out.connection_ += '?';
  out.add_parameters(keys);
  std::sort(out.secrets_.begin(), out.secrets_.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return out;
}

Result<> DatabaseAddress::read_authority(std::string_view authority, std::string_view path) {
  if (const std::string_view why = find_host_error(authority); !why.empty()) return refused(why);
  hosts_ = authority;
  database_ = path;
  return {};
}

std::vector<std::string> DatabaseAddress::read_query(std::string_view query) {
  std::vector<std::string> keys;
  std::string port;
  while (!query.empty()) {
    std::string_view value = take_until(query, "&");
    const std::string key = *decoded(take_until(value, "="));
    if (std::find(kSecretKeys.begin(), kSecretKeys.end(), key) != kSecretKeys.end())
      keep_secret(value);
    if (key == "user") user_ = text::one_line(*decoded(value));
    if (key == "host" || key == "hostaddr") hosts_ = value;
    if (key == "port") port = value;
    if (key == "dbname") database_ = value;
    keys.push_back(key);
  }
  if (!port.empty()) hosts_ += ":" + port;
  return keys;
}

void DatabaseAddress::keep_secret(std::string_view typed) {
  if (typed.empty()) return;
  secrets_.emplace_back(typed);
  if (std::string plain = *decoded(typed); plain != typed) secrets_.push_back(std::move(plain));
}

void DatabaseAddress::add_parameters(const std::vector<std::string>& known) {
  const auto add = [this](std::string_view parameter) {
    if (!connection_.ends_with('?') && !connection_.ends_with('&')) connection_ += '&';
    connection_ += parameter;
  };
  for (const auto& [key, value] : kDefaultParameters)
    if (std::find(known.begin(), known.end(), key) == known.end())
      add(fmt::format("{}={}", key, value));
  add(kEncoding);
}

std::string DatabaseAddress::redact(std::string_view text) const {
  // A shorter password is replaced only within a URL, because it occurs in too many words.
  constexpr size_t kMinBytes = 4;
  std::string out(text);
  for (const std::string& secret : secrets_) {
    replace_all(out, ":" + secret + "@", ":***@");
    if (secret.size() >= kMinBytes) replace_all(out, secret, "***");
  }
  return out;
}

}  // namespace stoka::store::postgres
