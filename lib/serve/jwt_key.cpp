#include "serve/jwt_key.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>
#include <optional>

#include "base/ascii.h"
#include "base/base64.h"

namespace stoka::serve {
namespace {

constexpr std::string_view kHs256 = "HS256";
constexpr std::string_view kRs256 = "RS256";
constexpr std::string_view kEs256 = "ES256";
constexpr size_t kMinSecretBytes = 32;   // the minimum of RFC 7518, section 3.2
constexpr int kMinRsaBits = 2048;        // the minimum of RFC 7518, section 3.3
constexpr size_t kCoordinateBytes = 32;  // bytes of r, and of s: RFC 7518, section 3.4

struct Free {
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(BIGNUM* p) const { BN_free(p); }
  void operator()(ECDSA_SIG* p) const { ECDSA_SIG_free(p); }
  void operator()(EVP_MD_CTX* p) const { EVP_MD_CTX_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(EVP_PKEY_CTX* p) const { EVP_PKEY_CTX_free(p); }
  void operator()(X509* p) const { X509_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

// OpenSSL keeps a queue of errors for each thread. An error that is left in it would be taken for
// the error of an unrelated later call.
struct ErrorQueueGuard {
  ~ErrorQueueGuard() { ERR_clear_error(); }
};

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_pem(std::string_view text) {
  if (!contains(text, "BEGIN ")) return false;
  return contains(text, "PUBLIC KEY") || contains(text, "PRIVATE KEY") ||
         contains(text, "CERTIFICATE");
}

bool is_der(std::string_view text) {
  const long length = static_cast<long>(text.size());
  const unsigned char* at = bytes(text);
  if (const Owned<EVP_PKEY> key{d2i_PUBKEY(nullptr, &at, length)}) return true;
  at = bytes(text);
  const Owned<X509> certificate{d2i_X509(nullptr, &at, length)};
  return certificate != nullptr;
}

// A public key of a type that is not supported must not be used as a secret.
bool is_unsupported_key(std::string_view text) {
  for (const std::string_view start : {"{", "ssh-", "ecdsa-sha2-"})
    if (trimmed(text).starts_with(start)) return true;
  if (is_der(text)) return true;
  std::string base64(text);
  std::erase_if(base64, [](char c) { return contains(kAsciiWhitespace, {&c, 1}); });
  const std::optional<std::string> inner = from_base64(base64);
  return inner && (is_der(*inner) || is_pem(*inner));
}

// Without this callback OpenSSL asks for a password at the terminal.
int no_password(char*, int, int, void*) { return -1; }

std::string_view group(const EVP_PKEY* key, std::array<char, 64>& name) {
  size_t length = 0;
  if (EVP_PKEY_get_group_name(key, name.data(), name.size(), &length) != 1) return "";
  return {name.data(), length};
}

}  // namespace

Result<JwtKey> JwtKey::parse(std::string_view content, size_t number) {
  const ErrorQueueGuard guard;
  if (is_pem(content)) return parse_public(content, number);
  if (content.ends_with('\n')) content.remove_suffix(1);
  if (content.ends_with('\r')) content.remove_suffix(1);
  if (is_unsupported_key(content))
    return fail(ErrorKind::config,
                fmt::format("JWT key {} is a key in a form that is not supported", number),
                "write a public key as PEM: \"-----BEGIN PUBLIC KEY-----\"");
  if (content.size() < kMinSecretBytes)
    return fail(ErrorKind::config,
                fmt::format("JWT key {} is a secret of {} bytes, too short to be safe", number,
                            content.size()),
                "use 32 bytes or more, as from \"openssl rand -base64 48\"");
  JwtKey key;
  key.algorithm_ = kHs256;
  key.secret_ = content;
  return key;
}

Result<JwtKey> JwtKey::parse_public(std::string_view pem, size_t number) {
  constexpr std::string_view kBegin = "-----BEGIN";
  const auto error = [&](std::string_view what, std::string hint) {
    return fail(ErrorKind::config, fmt::format("JWT key {} {}", number, what), std::move(hint));
  };
  const std::string form =
      "give the public key alone, as PEM with the line \"-----BEGIN PUBLIC KEY-----\"";
  const std::string kinds = "use RSA of 2048 bits or more, or EC P-256";

  if (contains(pem, "PRIVATE KEY")) return error("is a private key", form);
  if (pem.find(kBegin) != pem.rfind(kBegin))
    return error("holds more than one key", "put each key into a file of its own");
  const Owned<BIO> bio{BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  JwtKey key;
  key.public_key_ = Owned<EVP_PKEY>(PEM_read_bio_PUBKEY(bio.get(), nullptr, no_password, nullptr));
  EVP_PKEY* read = key.public_key_.get();
  if (!read) return error("is not a PEM public key", form);
  const Owned<EVP_PKEY_CTX> check{EVP_PKEY_CTX_new(read, nullptr)};
  if (EVP_PKEY_public_check(check.get()) != 1)
    return error("is not a valid public key", "make a new one");

  std::array<char, 64> name{};
  const int kind = EVP_PKEY_get_base_id(read);
  if (kind == EVP_PKEY_RSA) {
    const int bits = EVP_PKEY_get_bits(read);
    if (bits < kMinRsaBits) return error(fmt::format("is RSA of {} bits", bits), kinds);
    key.algorithm_ = kRs256;
  } else if (kind == EVP_PKEY_EC && group(read, name) == "prime256v1") {
    key.algorithm_ = kEs256;
  } else {
    return error("is of a kind that is not supported", kinds);
  }
  return key;
}

bool JwtKey::verifies(std::string_view input, std::string_view signature) const {
  const ErrorQueueGuard guard;
  if (algorithm_ == kHs256) return verifies_mac(input, signature);
  if (algorithm_ == kEs256) return verifies_raw_pair(input, signature);
  return verifies_public(input, signature);
}

bool JwtKey::verifies_mac(std::string_view input, std::string_view signature) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned int length = 0;
  if (HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), bytes(input),
           input.size(), mac.data(), &length) == nullptr)
    return false;
  return signature.size() == length && CRYPTO_memcmp(signature.data(), mac.data(), length) == 0;
}

// OpenSSL takes r and s as DER; a JWT has the bytes of r followed by those of s.
bool JwtKey::verifies_raw_pair(std::string_view input, std::string_view signature) const {
  if (signature.size() != 2 * kCoordinateBytes) return false;
  Owned<BIGNUM> r{BN_bin2bn(bytes(signature), kCoordinateBytes, nullptr)};
  Owned<BIGNUM> s{BN_bin2bn(bytes(signature) + kCoordinateBytes, kCoordinateBytes, nullptr)};
  const Owned<ECDSA_SIG> pair{ECDSA_SIG_new()};
  if (!r || !s || !pair || BN_is_zero(r.get()) || BN_is_zero(s.get())) return false;
  ECDSA_SIG_set0(pair.get(), r.release(), s.release());
  unsigned char* made = nullptr;
  const int length = i2d_ECDSA_SIG(pair.get(), &made);
  if (length <= 0) return false;
  const std::string der(reinterpret_cast<const char*>(made), static_cast<size_t>(length));
  OPENSSL_free(made);
  return verifies_public(input, der);
}

bool JwtKey::verifies_public(std::string_view input, std::string_view signature) const {
  const Owned<EVP_MD_CTX> context{EVP_MD_CTX_new()};
  return context &&
         EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, public_key_.get()) ==
             1 &&
         EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(input),
                          input.size()) == 1;
}

}  // namespace stoka::serve
