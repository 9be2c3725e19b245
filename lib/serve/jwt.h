// Bearer tokens: JSON Web Tokens (RFC 7519) in compact form, signed (RFC 7515). A key has one
// algorithm, and the token has no say in it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "serve/jwt_key.h"

namespace stoka::serve {

struct JwtOptions {
  std::vector<std::string> keys;    // what the key files hold, see JwtKey::read
  std::string audience;             // required where there is a key
  std::string issuer;               // empty: not checked
  std::chrono::seconds leeway{60};  // for clocks that differ
};

class JwtVerifier {
 public:
  // Config errors name a key by its place, from 1. Without keys every token is refused.
  static Result<JwtVerifier> make(const JwtOptions& options);

  // The subject of a token whose signature and claims hold: 1 to 1024 bytes of UTF-8 without
  // control characters. Else a usage error with one text for all; its hint is the reason, for a
  // debug log and not for who sent the token. Neither repeats anything of the token. Thread safe.
  Result<std::string> verify(std::string_view token, Instant now) const;

 private:
  JwtVerifier() = default;

  std::vector<JwtKey> keys_;
  std::string audience_;
  std::string issuer_;
  double leeway_ = 0;  // seconds
};

}  // namespace stoka::serve
