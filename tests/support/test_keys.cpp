#include "support/test_keys.h"

#include <doctest/doctest.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <algorithm>

#include "base/base64.h"

namespace stoka::testing {
namespace {

template <class Write>
std::string written(Write write) {
  BIO* bio = BIO_new(BIO_s_mem());
  REQUIRE(write(bio) == 1);
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<size_t>(length));
  BIO_free(bio);
  return out;
}

}  // namespace

std::string url64(std::string_view bytes) {
  std::string out = stoka::to_base64(bytes);
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  out.resize(std::min(out.size(), out.find('=')));
  return out;
}

std::string from_url64(std::string text) {
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  return stoka::from_base64(text).value();
}

KeyPair::KeyPair(EVP_PKEY* made) : key(made, EVP_PKEY_free) { REQUIRE(made != nullptr); }

std::string KeyPair::public_pem() const {
  return written([&](BIO* bio) { return PEM_write_bio_PUBKEY(bio, key.get()); });
}

std::string KeyPair::public_der() const {
  return written([&](BIO* bio) { return i2d_PUBKEY_bio(bio, key.get()); });
}

std::string KeyPair::private_pem() const {
  return written([&](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string KeyPair::sign(std::string_view input) const {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  REQUIRE(EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key.get()) == 1);
  std::string out(1024, '\0');
  size_t length = out.size();
  REQUIRE(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(out.data()), &length,
                         reinterpret_cast<const unsigned char*>(input.data()), input.size()) == 1);
  EVP_MD_CTX_free(context);
  out.resize(length);
  return out;
}

const KeyPair& rsa() {
  static const KeyPair pair(EVP_RSA_gen(2048));
  return pair;
}

const KeyPair& ec() {
  static const KeyPair pair(EVP_EC_gen("P-256"));
  return pair;
}

std::string raw_of_der(std::string_view der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size()));
  REQUIRE(pair != nullptr);
  std::string out(64, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(pair), to, 32);
  BN_bn2binpad(ECDSA_SIG_get0_s(pair), to + 32, 32);
  ECDSA_SIG_free(pair);
  return out;
}

std::string hmac(std::string_view key, std::string_view input) {
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(input.data()), input.size(), mac, &length);
  return {reinterpret_cast<char*>(mac), length};
}

}  // namespace stoka::testing
