// A key that verifies signatures. Its algorithm follows from the kind of the key.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_pkey_st;  // the type that OpenSSL calls EVP_PKEY

namespace stoka::serve {

class JwtKey {
 public:
  // Parses the content of a key file. A PEM public key must be RSA of 2048 bits or more (RS256) or
  // EC P-256 (ES256). Anything else is a shared secret of 32 bytes or more (HS256); one line end
  // after it is dropped. A config error names the key by its number.
  static Result<JwtKey> parse(std::string_view content, size_t number);

  // The algorithm's name as in RFC 7518: "RS256".
  std::string_view algorithm() const { return algorithm_; }
  // Verifies a signature in bytes; for ES256 these are r and s (RFC 7518, 3.4). Thread safe.
  bool verifies(std::string_view input, std::string_view signature) const;

 private:
  JwtKey() = default;
  static Result<JwtKey> parse_public(std::string_view pem, size_t number);
  bool verifies_mac(std::string_view input, std::string_view signature) const;
  bool verifies_raw_pair(std::string_view input, std::string_view signature) const;
  bool verifies_public(std::string_view input, std::string_view signature) const;

  std::string_view algorithm_;
  std::string secret_;                       // the secret of an HS256 key
  std::shared_ptr<evp_pkey_st> public_key_;  // the public key of an RS256 or ES256 key
};

}  // namespace stoka::serve
