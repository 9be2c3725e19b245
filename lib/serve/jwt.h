// Bearer tokens: signed JSON Web Tokens (RFC 7519) in compact form (RFC 7515). The algorithm
// follows from the key; the token cannot choose it.
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
  std::vector<std::string> keys;  // the contents of the key files, see JwtKey::parse
  std::string audience;           // the audience that tokens must name; not empty if there is a key
  std::string issuer;             // the issuer that tokens must name; if empty, any will do
  std::chrono::seconds leeway{60};  // how far the clocks of issuer and server may differ
};

class JwtVerifier {
 public:
  // A config error names a key by its number, from 1. Without keys all tokens are refused.
  static Result<JwtVerifier> make(const JwtOptions& options);

  // Returns the subject of a token whose signature and claims are valid: 1 to 1024 bytes of UTF-8
  // without control characters. Otherwise returns a usage error. Its message is always the same;
  // its hint is the reason, for a debug log and not for the client. Message and hint repeat no part
  // of the token. Thread safe.
  Result<std::string> verify(std::string_view token, Instant now) const;

 private:
  JwtVerifier() = default;

  std::vector<JwtKey> keys_;
  std::string audience_;
  std::string issuer_;
  double leeway_ = 0;  // tolerated difference of clocks in seconds
};

}  // namespace stoka::serve
