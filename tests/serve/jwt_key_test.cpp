#include "serve/jwt_key.h"

#include <doctest/doctest.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <string>
#include <vector>

#include "base/base64.h"
#include "support/test_keys.h"

namespace jwt_key_test {

namespace {

using stoka::ErrorKind;
using stoka::serve::JwtKey;
using stoka::testing::ec;
using stoka::testing::from_url64;
using stoka::testing::hmac;
using stoka::testing::KeyPair;
using stoka::testing::raw_of_der;
using stoka::testing::rsa;

const std::string kSecret = "a shared secret of forty characters, ok!";
const std::string kInput = "what is signed";

JwtKey key(std::string_view content) {
  auto read = JwtKey::parse(content, 1);
  REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
  return *read;
}

bool verifies(const JwtKey& by, std::string_view signature) {
  const bool good = by.verifies(kInput, signature);
  CHECK(ERR_peek_error() == 0);
  return good;
}

std::string config_error(std::string_view content) {
  const auto read = JwtKey::parse(content, 7);
  CHECK(ERR_peek_error() == 0);
  if (read) return "";
  CHECK(read.error().kind == ErrorKind::config);
  CHECK_FALSE(read.error().hint.empty());
  const std::string& message = read.error().message;
  REQUIRE(message.starts_with("JWT key 7 "));
  return message.substr(10);
}

}  // namespace

TEST_CASE("the signature algorithm follows from the key") {
  CHECK(key(kSecret).algorithm() == "HS256");
  CHECK(key(rsa().public_pem()).algorithm() == "RS256");
  CHECK(key(ec().public_pem()).algorithm() == "ES256");
  CHECK(verifies(key(kSecret), hmac(kSecret, kInput)));
  CHECK(verifies(key(rsa().public_pem()), rsa().sign(kInput)));
  CHECK(verifies(key(ec().public_pem()), raw_of_der(ec().sign(kInput))));
}

TEST_CASE("one line end after a secret is dropped") {
  CHECK(verifies(key(kSecret + "\n"), hmac(kSecret, kInput)));
  CHECK(verifies(key(kSecret + "\r\n"), hmac(kSecret, kInput)));
  CHECK(verifies(key(kSecret + "\n\n"), hmac(kSecret + "\n", kInput)));
  CHECK_FALSE(verifies(key(kSecret + "\n\n"), hmac(kSecret, kInput)));
  CHECK(verifies(key(" " + kSecret + " "), hmac(" " + kSecret + " ", kInput)));
}

TEST_CASE("a secret may consist of any bytes") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(255 - i);
  CHECK(verifies(key(all), hmac(all, kInput)));
  CHECK_FALSE(verifies(key(all), hmac(all.substr(0, 255), kInput)));
}

TEST_CASE("an ES256 signature is r and s, neither zero, and not DER") {
  const JwtKey by = key(ec().public_pem());
  const std::string der = ec().sign(kInput);
  const std::string raw = raw_of_der(der);
  const std::string r = raw.substr(0, 32), s = raw.substr(32);
  const std::string zero(32, '\0'), ones(32, '\xff');
  for (const std::string& signature : {der, zero + s, r + zero, zero + zero, raw.substr(0, 63),
                                       raw + '\0', s + r, ones + s, r + ones, std::string()})
    CHECK_FALSE(verifies(by, signature));
  CHECK(verifies(by, raw));
  CHECK_FALSE(by.verifies("what is not signed", raw));
}

TEST_CASE("a signature of the wrong length is refused") {
  const std::string made = rsa().sign(kInput);
  for (const std::string& signature :
       {made + '\0', '\0' + made, made.substr(0, 255), made.substr(1), std::string(256, '\0'),
        std::string(256, '\xff'), std::string()})
    CHECK_FALSE(verifies(key(rsa().public_pem()), signature));
  const std::string mac = hmac(kSecret, kInput);
  for (const std::string& signature :
       {mac + '\0', mac.substr(0, 31), mac.substr(0, 16), mac + mac, std::string()})
    CHECK_FALSE(verifies(key(kSecret), signature));
}

TEST_CASE("the examples of RFC 7515, A.1 to A.3, verify") {
  const std::string claims =
      "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
      "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
  const std::string shared = from_url64(
      "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
  const std::string rsa_key =
      "-----BEGIN PUBLIC KEY-----\n"
      "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAofgWCuLjybRlzo0tZWJj\n"
      "NiuSfb4p4fAkd/wWJcyQoTbji9k0l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEz\n"
      "P1Pt0Bm4d4QlL+yRT+SFd2lZS+pCgNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo\n"
      "9wGzjb/7OMg0LOL+bSf63kpaSHSXndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTB\n"
      "EMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxX\n"
      "FvUK+DWNmoudF8NAco9/h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXp\n"
      "oQIDAQAB\n"
      "-----END PUBLIC KEY-----\n";
  const std::string ec_key =
      "-----BEGIN PUBLIC KEY-----\n"
      "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n"
      "6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"
      "-----END PUBLIC KEY-----\n";
  struct Case {
    std::string key, header, signature;
  };
  const Case cases[] = {{shared, "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
                         "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
                        {rsa_key, "eyJhbGciOiJSUzI1NiJ9",
                         "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7"
                         "AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4"
                         "BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K"
                         "0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqv"
                         "hJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrB"
                         "p0igcN_IoypGlUPQGe77Rw"},
                        {ec_key, "eyJhbGciOiJFUzI1NiJ9",
                         "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSA"
                         "pmWQxfKTUJqPP3-Kg6NU1Q"}};
  for (const Case& c : cases) {
    CAPTURE(c.header);
    const JwtKey by = key(c.key);
    std::string signature = from_url64(c.signature);
    CHECK(by.verifies(c.header + "." + claims, signature));
    CHECK_FALSE(by.verifies(c.header + "." + claims + "A", signature));
    signature[8] = static_cast<char>(signature[8] ^ 1);
    CHECK_FALSE(by.verifies(c.header + "." + claims, signature));
  }
}

TEST_CASE("weak, private and unsupported keys give config errors") {
  CHECK(config_error(rsa().private_pem()) == "is a private key");
  CHECK(config_error(ec().private_pem()) == "is a private key");
  CHECK(config_error(ec().public_pem() + ec().private_pem()) == "is a private key");
  CHECK(config_error(ec().public_pem() + rsa().public_pem()) == "holds more than one key");
  CHECK(config_error(KeyPair(EVP_RSA_gen(1024)).public_pem()) == "is RSA of 1024 bits");
  const std::string other = "is of a kind that is not supported";
  CHECK(config_error(KeyPair(EVP_EC_gen("P-384")).public_pem()) == other);
  CHECK(config_error(KeyPair(EVP_EC_gen("secp256k1")).public_pem()) == other);
  CHECK(config_error(KeyPair(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")).public_pem()) ==
        other);
  CHECK(config_error("") == "is a secret of 0 bytes, too short to be safe");
  CHECK(config_error(std::string(31, 'k') + "\n") ==
        "is a secret of 31 bytes, too short to be safe");
  CHECK(config_error(std::string(32, 'k')) == "");
}

TEST_CASE("a damaged PEM gives a config error and is not used as a secret") {
  const std::string whole = ec().public_pem();
  const std::string no_pem = "is not a PEM public key";
  CHECK(config_error(whole.substr(0, 60)) == no_pem);
  CHECK(config_error(whole.substr(2)) == no_pem);
  CHECK(config_error("\u2014" + whole.substr(5)) == no_pem);
  CHECK(config_error("-----BEGIN RSA PUBLIC KEY-----\nMIIB\n-----END RSA PUBLIC KEY-----\n") ==
        no_pem);
  CHECK(config_error("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n") == no_pem);
  // OpenSSL must not ask for a password at the terminal.
  CHECK(config_error("-----BEGIN PUBLIC KEY-----\nProc-Type: 4,ENCRYPTED\n"
                     "DEK-Info: AES-128-CBC,00000000000000000000000000000000\n\n"
                     "AAAAAAAAAAAAAAAAAAAAAA==\n-----END PUBLIC KEY-----\n") == no_pem);
  CHECK(config_error("# the key of the site\n\n" + whole) == "");
}

TEST_CASE("a public key in an unsupported form is not used as a secret") {
  const std::string other = "is a key in a form that is not supported";
  for (const KeyPair* pair : {&rsa(), &ec()}) {
    const std::string der = pair->public_der();
    CHECK(config_error(der) == other);
    CHECK(config_error(stoka::to_base64(der) + "\n") == other);
    CHECK(config_error(stoka::to_base64(pair->public_pem())) == other);
  }
  std::string lines = stoka::to_base64(rsa().public_der());
  for (size_t at = 64; at < lines.size(); at += 65) lines.insert(at, "\n");
  CHECK(config_error(lines) == other);
  CHECK(config_error(R"( {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8T"})") ==
        other);
  CHECK(config_error("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGYvX1J5cGxhY2Vob2xkZXI") == other);
  CHECK(config_error(stoka::to_base64(std::string(48, '\x5a'))) == "");
}

TEST_CASE("an error repeats nothing of the key") {
  for (const char* content :
       {"canary", "-----BEGIN PUBLIC KEY-----\ncanary\n", "{\"k\":\"canary\"}"}) {
    const auto read = JwtKey::parse(content, 1);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().message.find("canary") == std::string::npos);
    CHECK(read.error().hint.find("canary") == std::string::npos);
  }
}

}  // namespace jwt_key_test
