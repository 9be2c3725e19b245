// Bearer tokens. The input is a token, and also the header and the claims of a token that is signed
// here, so that claims are reached that nobody else could sign.
#include <algorithm>
#include <string>

#include "fuzz/targets.h"
#include "serve/jwt.h"
#include "support/json.h"
#include "support/test_keys.h"
#include "text/utf8.h"

namespace stoka::fuzz {
namespace {

using namespace std::chrono_literals;
using serve::JwtKey;
using serve::JwtOptions;
using serve::JwtVerifier;
using testing::hmac;
using testing::url64;
using Json = nlohmann::json;

const Instant kTokenTime = Instant(1'800'000'000s);
constexpr double kTokenSeconds = 1'800'000'000;
constexpr double kLeeway = 60;
const std::string kTokenSecret = "a shared secret of forty characters, ok!";
const std::string kTokenHeader = R"({"alg":"HS256"})";
// Its private key was thrown away, so no token of this key is valid.
const std::string kTokenPem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvvveaH8IlCx1cAmh2iTWQcV2nKi9\n"
    "SILasmjx+Y3H9Np2+Wdnq7r2KL7jmVXKOWXftyD737L6o/Nevd8KTw4Oxg==\n"
    "-----END PUBLIC KEY-----\n";

std::string signed_token(std::string_view header, std::string_view claims, std::string_view key) {
  const std::string input = url64(header) + "." + url64(claims);
  return input + "." + url64(hmac(key, input));
}

const JwtVerifier& token_verifier() {
  static const JwtVerifier made = [] {
    JwtOptions options;
    options.keys = {kTokenSecret, kTokenPem};
    options.audience = "stoka";
    return JwtVerifier::make(options).value();
  }();
  return made;
}

// What must be true of a token that was accepted.
void check_accepted(std::string_view header_text, std::string_view claims_text,
                    const std::string& subject) {
  const Json header = Json::parse(header_text, nullptr, false);
  const Json claims = Json::parse(claims_text, nullptr, false);
  check(header.is_object() && claims.is_object(), "header and claims are JSON objects");
  check(header.value("alg", "") == "HS256", "the algorithm is that of the key");
  check(!header.contains("crit"), "a critical extension is not ignored");
  check(claims.value("sub", "") == subject, "the subject is that of the claims");
  check(!subject.empty() && subject.size() <= 1024 && text::is_valid_utf8(subject),
        "a subject has 1 to 1024 bytes of UTF-8");
  for (const char c : subject)
    check(static_cast<unsigned char>(c) >= ' ' && c != '\x7f', "a subject has no controls");
  check(claims.contains("exp") && claims["exp"].is_number() &&
            claims["exp"].get<double>() + kLeeway > kTokenSeconds,
        "a valid token has not expired");
  check(!claims.contains("nbf") ||
            (claims["nbf"].is_number() && claims["nbf"].get<double>() - kLeeway <= kTokenSeconds),
        "a valid token is valid already");
  const Json aud = claims.value("aud", Json());
  check(
      aud == "stoka" || (aud.is_array() && std::find(aud.begin(), aud.end(), "stoka") != aud.end()),
      "the token is for this audience");
}

void check_token_refusal(const Error& error) {
  check(error.kind == ErrorKind::usage && error.message == "the token is not valid",
        "every refusal has the same message");
  check(!error.hint.empty() && error.hint.size() < 100, "the hint is one of few sentences");
}

void check_signed(std::string_view header, std::string_view claims) {
  const std::string token = signed_token(header, claims, kTokenSecret);
  const Result<std::string> subject = token_verifier().verify(token, kTokenTime);
  if (subject) {
    check_accepted(header, claims, *subject);
    // The same token without its signature, or signed with what everybody knows, is refused.
    check(!token_verifier().verify(token.substr(0, token.rfind('.') + 1), kTokenTime),
          "a token needs a signature");
    check(!token_verifier().verify(token + "A", kTokenTime), "a signature has one length");
  } else {
    check_token_refusal(subject.error());
  }
  check(!token_verifier().verify(signed_token(header, claims, kTokenPem), kTokenTime),
        "a public key is not a secret");
}

void check_token(std::string_view token) {
  const Result<std::string> subject = token_verifier().verify(token, kTokenTime);
  if (!subject) return check_token_refusal(subject.error());
  const size_t dot = token.rfind('.');
  check(dot != std::string_view::npos &&
            token.substr(dot + 1) == url64(hmac(kTokenSecret, token.substr(0, dot))),
        "an accepted token has the signature of the secret, in its only encoding");
}

void check_key(std::string_view content) {
  const Result<JwtKey> key = JwtKey::parse(content, 1);
  if (!key) {
    check(key.error().kind == ErrorKind::config && key.error().message.starts_with("JWT key 1 "),
          "a key that is refused is a configuration error");
    return;
  }
  check(key->algorithm() == "HS256" || content.find("PUBLIC KEY") != std::string_view::npos,
        "a public key is written as PEM");
  check(key->algorithm() != "HS256" || content.size() >= 32, "a secret has at least 32 bytes");
  check(!key->verifies("input", "") && !key->verifies("input", content.substr(0, 64)),
        "no key verifies a signature that nobody made");
}

}  // namespace

void fuzz_jwt(std::string_view input) {
  check_token(input);
  check_key(input);
  check_signed(kTokenHeader, input);
  const size_t end = input.find('\n');
  if (end == std::string_view::npos) return;
  check_signed(input.substr(0, end), input.substr(end + 1));
}

}  // namespace stoka::fuzz
