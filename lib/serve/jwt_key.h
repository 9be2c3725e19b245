// A key that verifies signatures, by the one algorithm that follows from what the key is.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_pkey_st;  // OpenSSL's EVP_PKEY

namespace stoka::serve {

class JwtKey {
 public:
  // Of what a key file holds. A PEM public key is RSA of 2048 bits or more (RS256) or EC P-256
  // (ES256). All else is a shared secret of 32 bytes or more (HS256), without one line end after
  // it. Config errors name the key by its place.
  static Result<JwtKey> read(std::string_view content, size_t place);

  // As RFC 7518 names it: "RS256".
  std::string_view algorithm() const { return algorithm_; }
  // The signature is its bytes, for ES256 r and s one after the other. Thread safe.
  bool verifies(std::string_view input, std::string_view signature) const;

 private:
  JwtKey() = default;
  static Result<JwtKey> read_public(std::string_view pem, size_t place);
  bool verifies_mac(std::string_view input, std::string_view signature) const;
  bool verifies_raw_pair(std::string_view input, std::string_view signature) const;
  bool verifies_public(std::string_view input, std::string_view signature) const;

  std::string_view algorithm_;
  std::string secret_;                       // HS256
  std::shared_ptr<evp_pkey_st> public_key_;  // RS256, ES256
};

}  // namespace stoka::serve
