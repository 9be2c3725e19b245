// Key pairs and signatures for tokens of tests.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace stoka::testing {

std::string url64(std::string_view bytes);
std::string from_url64(std::string text);

// A key pair that frees itself, in all its forms.
struct KeyPair {
  std::shared_ptr<EVP_PKEY> key;

  explicit KeyPair(EVP_PKEY* made);
  std::string public_pem() const;
  std::string public_der() const;
  std::string private_pem() const;
  std::string sign(std::string_view input) const;
};

const KeyPair& rsa();
const KeyPair& ec();

std::string raw_of_der(std::string_view der);
std::string hmac(std::string_view key, std::string_view input);

}  // namespace stoka::testing
