#include "serve/jwt.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/base64.h"
#include "text/normalize.h"

namespace stoka::serve {
namespace {

using nlohmann::json;

constexpr size_t kMaxTokenBytes = 8 * 1024;
constexpr size_t kMaxSubjectBytes = 1024;
constexpr int kMaxClaimDepth = 16;

// Decodes base64url (RFC 4648, section 5) and accepts only what an encoder would write.
std::optional<std::string> from_base64url(std::string_view text) {
  if (text.find_first_of("+/=") != std::string_view::npos) return std::nullopt;
  std::string base64(text);
  std::replace(base64.begin(), base64.end(), '-', '+');
  std::replace(base64.begin(), base64.end(), '_', '/');
  std::optional<std::string> out = from_base64(base64);
  // The unused bits of the last character must be zero; otherwise one signature has many forms.
  if (!out || !to_base64(*out).starts_with(base64)) return std::nullopt;
  return out;
}

// Parses a JSON object that is not nested too deeply and has no repeated member.
std::optional<json> strict_object(std::string_view text) {
  bool strict = true;
  std::vector<std::set<std::string>> names;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    using Event = json::parse_event_t;
    if ((event == Event::object_start || event == Event::array_start) && depth >= kMaxClaimDepth)
      strict = false;
    if (event == Event::object_start) names.emplace_back();
    if (event == Event::object_end) names.pop_back();
    if (event == Event::key) strict &= names.back().insert(parsed.get<std::string>()).second;
    return true;
  };
  json value = json::parse(text, watch, false);
  if (!strict || !value.is_object()) return std::nullopt;
  return value;
}

tl::unexpected<Error> invalid_token(std::string reason) {
  return fail(ErrorKind::usage, "the token is not valid", std::move(reason));
}

const json* member(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

bool is_text(const json* value, std::string_view text) {
  return value && value->is_string() && value->get_ref<const std::string&>() == text;
}

bool names_audience(const json* aud, std::string_view ours) {
  if (!aud || !aud->is_array()) return is_text(aud, ours);
  bool found = false;
  for (const json& one : *aud) {
    if (!one.is_string()) return false;
    found |= is_text(&one, ours);
  }
  return found;
}

bool is_subject(const json* sub) {
  if (!sub || !sub->is_string()) return false;
  const std::string& text = sub->get_ref<const std::string&>();
  if (text.empty() || text.size() > kMaxSubjectBytes) return false;
  size_t controls = 0;
  text::replace_controls(text, {}, &controls);
  return controls == 0 && text.find_first_of("\n\t") == std::string::npos;
}

}  // namespace

Result<JwtVerifier> JwtVerifier::make(const JwtOptions& options) {
  if (!options.keys.empty() && options.audience.empty())
    return fail(ErrorKind::config, "JWT keys are set without an audience",
                "set the audience that tokens for this server name in \"aud\"");
  JwtVerifier made;
  for (size_t i = 0; i < options.keys.size(); ++i) {
    STOKA_ASSIGN(JwtKey key, JwtKey::parse(options.keys[i], i + 1));
    made.keys_.push_back(std::move(key));
  }
  made.audience_ = options.audience;
  made.issuer_ = options.issuer;
  made.leeway_ = static_cast<double>(options.leeway.count());
  return made;
}

Result<std::string> JwtVerifier::verify(std::string_view token, Instant now) const {
  if (token.size() > kMaxTokenBytes) return invalid_token("it is longer than 8 KiB");
  const size_t first = token.find('.');
  const size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos) return invalid_token("it does not have three parts");
  const auto header_text = from_base64url(token.substr(0, first));
  const auto claims_text = from_base64url(token.substr(first + 1, second - first - 1));
  const auto signature = from_base64url(token.substr(second + 1));
  if (!header_text || !claims_text || !signature)
    return invalid_token("it is not strict base64url");

  const std::optional<json> header = strict_object(*header_text);
  if (!header) return invalid_token("its header is not a strict JSON object");
  if (member(*header, "crit")) return invalid_token("its header has \"crit\"");
  bool has_key = false, is_signed = false;
  for (const JwtKey& key : keys_) {
    if (!is_text(member(*header, "alg"), key.algorithm())) continue;
    has_key = true;
    is_signed = is_signed || key.verifies(token.substr(0, second), *signature);
  }
  if (!has_key) return invalid_token("no key is for its algorithm");
  if (!is_signed) return invalid_token("no key verifies its signature");

  const std::optional<json> claims = strict_object(*claims_text);
  if (!claims) return invalid_token("its payload is not a strict JSON object");
  const double seconds = static_cast<double>(now.time_since_epoch().count()) / 1000;
  const json* exp = member(*claims, "exp");
  if (!exp || !exp->is_number()) return invalid_token("it has no \"exp\" that is a number");
  if (seconds >= exp->get<double>() + leeway_) return invalid_token("it has expired");
  if (const json* nbf = member(*claims, "nbf")) {
    if (!nbf->is_number()) return invalid_token("its \"nbf\" is not a number");
    if (seconds < nbf->get<double>() - leeway_) return invalid_token("it is not valid yet");
  }
  if (!names_audience(member(*claims, "aud"), audience_))
    return invalid_token("it is for another audience");
  if (!issuer_.empty() && !is_text(member(*claims, "iss"), issuer_))
    return invalid_token("it is from another issuer");
  const json* sub = member(*claims, "sub");
  if (!is_subject(sub)) return invalid_token("its \"sub\" is not plain text of 1 to 1024 bytes");
  return sub->get<std::string>();
}

}  // namespace stoka::serve
