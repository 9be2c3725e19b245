#include "serve/jwt.h"

#include <doctest/doctest.h>
#include <openssl/err.h>

#include <string>
#include <thread>
#include <vector>

#include "support/test_keys.h"

namespace jwt_test {

namespace {

using namespace std::chrono_literals;
using stoka::ErrorKind;
using stoka::Instant;
using stoka::Result;
using stoka::serve::JwtOptions;
using stoka::serve::JwtVerifier;
using stoka::testing::ec;
using stoka::testing::hmac;
using stoka::testing::raw_of_der;
using stoka::testing::rsa;
using stoka::testing::url64;

const Instant kNow = Instant(1'800'000'000s);
const std::string kSecret = "a shared secret of forty characters, ok!";
const std::string kClaims = R"({"sub":"reader","aud":"stoka","exp":1800000100})";

std::string hs256(std::string_view claims, std::string_view header = R"({"alg":"HS256"})",
                  std::string_view key = kSecret) {
  const std::string input = url64(header) + "." + url64(claims);
  return input + "." + url64(hmac(key, input));
}

std::string rs256(std::string_view claims, std::string_view header = R"({"alg":"RS256"})") {
  const std::string input = url64(header) + "." + url64(claims);
  return input + "." + url64(rsa().sign(input));
}

std::string es256(std::string_view claims, std::string_view header = R"({"alg":"ES256"})") {
  const std::string input = url64(header) + "." + url64(claims);
  return input + "." + url64(raw_of_der(ec().sign(input)));
}

JwtVerifier verifier(std::vector<std::string> keys, std::string issuer = "") {
  JwtOptions options;
  options.keys = std::move(keys);
  options.audience = "stoka";
  options.issuer = std::move(issuer);
  auto made = JwtVerifier::make(options);
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  return std::move(*made);
}

const JwtVerifier& all_keys() {
  static const JwtVerifier made = verifier({kSecret, rsa().public_pem(), ec().public_pem()});
  return made;
}

std::string outcome(const JwtVerifier& by, std::string_view token, Instant now = kNow) {
  const Result<std::string> subject = by.verify(token, now);
  if (subject) return *subject;
  CHECK(subject.error().kind == ErrorKind::usage);
  CHECK(subject.error().message == "the token is not valid");
  CHECK(ERR_peek_error() == 0);
  return "refused: " + subject.error().hint;
}

std::string of_claims(std::string_view claims) { return outcome(all_keys(), hs256(claims)); }
std::string of_header(std::string_view header) {
  return outcome(all_keys(), hs256(kClaims, header));
}

}  // namespace

TEST_CASE("a token signed by any of the keys is valid") {
  CHECK(outcome(all_keys(), hs256(kClaims)) == "reader");
  CHECK(outcome(all_keys(), rs256(kClaims)) == "reader");
  CHECK(outcome(all_keys(), es256(kClaims)) == "reader");
}

TEST_CASE("all keys of an algorithm are tried, and kid is ignored") {
  const std::string another = "another secret, as long as it has to be";
  const JwtVerifier both = verifier({another, kSecret});
  CHECK(outcome(both, hs256(kClaims, R"({"alg":"HS256"})", another)) == "reader");
  CHECK(outcome(both, hs256(kClaims)) == "reader");
  CHECK(outcome(both, hs256(kClaims, R"({"alg":"HS256","kid":"../../dev/null"})")) == "reader");
  CHECK(outcome(both, hs256(kClaims, R"({"alg":"HS256","kid":["1' OR 1=1"]})")) == "reader");
  CHECK(
      outcome(both, hs256(kClaims, R"({"alg":"HS256"})", "a third secret that is no key, long")) ==
      "refused: no key verifies its signature");
}

TEST_CASE("keys in the token's header are never used") {
  for (const char* header :
       {R"({"alg":"HS256","jwk":{"kty":"oct","k":"AAAA"}})",
        R"({"alg":"HS256","jku":"https://evil.example/keys","x5u":"http://evil.example"})"}) {
    CHECK(of_header(header) == "reader");
    CHECK(outcome(all_keys(), hs256(kClaims, header, std::string(32, '\0'))) ==
          "refused: no key verifies its signature");
  }
}

TEST_CASE("an algorithm without a key is refused in every spelling") {
  for (const char* alg :
       {R"("none")",   R"("None")",  R"("NONE")",   R"("nOnE")",        R"("")",
        R"(" HS256")", R"("hs256")", R"("HS256 ")", R"("HS256\u0000")", R"("HS384")",
        R"("HS512")",  R"("RS512")", R"("PS256")",  R"("EdDSA")",       R"("dir")",
        "null",        "true",       "0",           R"(["HS256"])",     R"({"alg":"HS256"})"}) {
    const std::string header = std::string(R"({"alg":)") + alg + "}";
    CAPTURE(header);
    CHECK(of_header(header) == "refused: no key is for its algorithm");
    // Without a signature, as "none" is written.
    const std::string bare = url64(header) + "." + url64(kClaims) + ".";
    CHECK(outcome(all_keys(), bare) == "refused: no key is for its algorithm");
  }
  CHECK(of_header(R"({"typ":"JWT"})") == "refused: no key is for its algorithm");
  CHECK(of_header(R"({"ALG":"HS256"})") == "refused: no key is for its algorithm");
  CHECK(of_header(R"({"\u0061lg":"HS256"})") == "reader");  // the same name
}

TEST_CASE("a public key is not used as a shared secret") {
  const JwtVerifier by_rsa = verifier({rsa().public_pem()});
  std::string pem = rsa().public_pem();
  CHECK(outcome(by_rsa, hs256(kClaims, R"({"alg":"HS256"})", pem)) ==
        "refused: no key is for its algorithm");
  // The same holds if there is a secret, too.
  CHECK(outcome(all_keys(), hs256(kClaims, R"({"alg":"HS256"})", pem)) ==
        "refused: no key verifies its signature");
  pem.pop_back();
  CHECK(outcome(all_keys(), hs256(kClaims, R"({"alg":"HS256"})", pem)) ==
        "refused: no key verifies its signature");
}

TEST_CASE("a signature is valid only for the algorithm of its key") {
  CHECK(outcome(all_keys(), rs256(kClaims, R"({"alg":"ES256"})")) ==
        "refused: no key verifies its signature");
  CHECK(outcome(all_keys(), es256(kClaims, R"({"alg":"RS256"})")) ==
        "refused: no key verifies its signature");
  CHECK(outcome(all_keys(), hs256(kClaims, R"({"alg":"RS256"})")) ==
        "refused: no key verifies its signature");
  CHECK(outcome(verifier({ec().public_pem()}), rs256(kClaims)) ==
        "refused: no key is for its algorithm");
  CHECK(outcome(verifier({rsa().public_pem()}), es256(kClaims)) ==
        "refused: no key is for its algorithm");
  CHECK(outcome(verifier({}), hs256(kClaims)) == "refused: no key is for its algorithm");
}

TEST_CASE("no prefix of a token is valid") {
  for (const std::string& token : {hs256(kClaims), rs256(kClaims), es256(kClaims)})
    for (size_t length = 0; length < token.size(); ++length)
      CHECK_FALSE(all_keys().verify(token.substr(0, length), kNow).has_value());
}

TEST_CASE("no token with a flipped bit is valid") {
  for (std::string token : {hs256(kClaims), rs256(kClaims), es256(kClaims)}) {
    for (size_t bit = 0; bit < token.size() * 8; ++bit) {
      CAPTURE(bit);
      const char before = token[bit / 8];
      token[bit / 8] = static_cast<char>(before ^ (1 << bit % 8));
      CHECK_FALSE(all_keys().verify(token, kNow).has_value());
      token[bit / 8] = before;
    }
    CHECK(outcome(all_keys(), token) == "reader");
  }
}

TEST_CASE("parts of two tokens do not make a valid token") {
  const std::string mine = hs256(kClaims);
  const std::string other = hs256(R"({"sub":"owner","aud":"stoka","exp":1800000100})");
  const size_t in_mine = mine.rfind('.'), in_other = other.rfind('.');
  CHECK(outcome(all_keys(), other.substr(0, in_other) + mine.substr(in_mine)) ==
        "refused: no key verifies its signature");
}

TEST_CASE("a token must have three parts in strict base64url") {
  const std::string token = hs256(kClaims);
  const std::string shape = "refused: it does not have three parts";
  const std::string strict = "refused: it is not strict base64url";
  CHECK(outcome(all_keys(), "") == shape);
  CHECK(outcome(all_keys(), "a.b") == shape);
  CHECK(outcome(all_keys(), token + ".") == strict);
  CHECK(outcome(all_keys(), token + ".." + token) == strict);
  for (const char* wrong : {"=", "==", " ", "\n", "\t", "+", "/", "%3D", "\xC3\xA9"}) {
    CAPTURE(wrong);
    CHECK(outcome(all_keys(), token + wrong) == strict);
    CHECK(outcome(all_keys(), wrong + token) == strict);
  }
  CHECK(outcome(all_keys(), token + std::string(1, '\0')) == strict);
  CHECK(outcome(all_keys(), "..") == "refused: its header is not a strict JSON object");
  CHECK(outcome(all_keys(), "Bearer " + token) == strict);
}

TEST_CASE("a signature has only one valid encoding") {
  // The last character of 32 encoded bytes has two unused bits.
  std::string token = hs256(kClaims);
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const size_t value = kDigits.find(token.back());
  REQUIRE(value % 4 == 0);
  for (size_t i = 1; i < 4; ++i) {
    token.back() = kDigits[value + i];
    CHECK(outcome(all_keys(), token) == "refused: it is not strict base64url");
  }
}

TEST_CASE("a token of more than 8 KiB is refused") {
  const auto with_padding = [](size_t bytes) {
    return hs256(R"({"sub":"reader","aud":"stoka","exp":1800000100,"x":")" +
                 std::string(bytes, 'x') + "\"}");
  };
  size_t bytes = 5000;
  while (with_padding(bytes + 1).size() <= 8192) ++bytes;
  CHECK(outcome(all_keys(), with_padding(bytes)) == "reader");
  CHECK(outcome(all_keys(), with_padding(bytes + 1)) == "refused: it is longer than 8 KiB");
  CHECK(outcome(all_keys(), std::string(9 * 1024, 'a')) == "refused: it is longer than 8 KiB");
  CHECK(outcome(all_keys(), std::string(9 * 1024, '.')) == "refused: it is longer than 8 KiB");
}

TEST_CASE("a header must be a JSON object without repeated members and without crit") {
  const std::string strict = "refused: its header is not a strict JSON object";
  CHECK(of_header(R"( { "typ" : "JWT" , "alg" : "HS256" } )") == "reader");
  CHECK(of_header("") == strict);
  CHECK(of_header("null") == strict);
  CHECK(of_header("[]") == strict);
  CHECK(of_header(R"("HS256")") == strict);
  CHECK(of_header(R"({"alg":"HS256"}{})") == strict);
  CHECK(of_header(R"({"alg":"HS256",})") == strict);
  CHECK(of_header(R"({'alg':'HS256'})") == strict);
  CHECK(of_header(R"({"alg":"none","alg":"HS256"})") == strict);
  CHECK(of_header(R"({"alg":"HS256","\u0061lg":"HS256"})") == strict);
  CHECK(of_header(R"({"alg":"HS256","x":{"y":1,"y":2}})") == strict);
  CHECK(of_header("{\"alg\":\"HS256\",\"x\":\"\xff\"}") == strict);
  CHECK(of_header(R"({"alg":"HS256","crit":["b64"],"b64":false})") ==
        "refused: its header has \"crit\"");
  CHECK(of_header(R"({"alg":"HS256","crit":[]})") == "refused: its header has \"crit\"");
  CHECK(of_header(R"({"alg":"HS256","crit":null})") == "refused: its header has \"crit\"");
}

TEST_CASE("a payload must be a JSON object without repeated members, at most 16 levels deep") {
  const std::string strict = "refused: its payload is not a strict JSON object";
  const std::string start = R"({"sub":"reader","aud":"stoka","exp":1800000100)";
  CHECK(of_claims(start + R"(,"exp":1800000100})") == strict);
  CHECK(of_claims(start + R"(,"sub":"owner"})") == strict);
  CHECK(of_claims(start + R"(,"x":[{"a":1},{"a":1,"a":1}]})") == strict);
  CHECK(of_claims(start + R"(,"x":[{"a":1},{"a":1}],"y":{"a":{"a":1}}})") == "reader");
  const auto nested = [&](size_t levels) {
    return start + R"(,"x":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
  };
  CHECK(of_claims(nested(15)) == "reader");
  CHECK(of_claims(nested(16)) == strict);
  CHECK(of_claims(nested(2900)) == strict);
  CHECK(of_claims(start + R"(,"x":)" + std::string(5000, '[')) == strict);
  std::string objects = start;
  for (int i = 0; i < 16; ++i) objects += R"(,"x":{"a":1)";
  CHECK(of_claims(objects + std::string(17, '}')) == strict);
  CHECK(of_claims(start + "}x") == strict);
  CHECK(of_claims(start) == strict);
  CHECK(of_claims("[" + kClaims + "]") == strict);
  CHECK(of_claims("") == strict);
}

TEST_CASE("a token is valid from nbf to exp, with 60 seconds of leeway") {
  const auto at = [](std::string_view claims, Instant now) {
    return outcome(all_keys(), hs256(claims), now);
  };
  const std::string claims =
      R"({"sub":"reader","aud":"stoka","exp":1800000100,"nbf":1800000000.5})";
  const Instant exp(1'800'000'100s), nbf(1'800'000'000'500ms);
  CHECK(at(claims, exp - 1ms) == "reader");
  CHECK(at(claims, exp + 60s - 1ms) == "reader");
  CHECK(at(claims, exp + 60s) == "refused: it has expired");
  CHECK(at(claims, exp + 1000h) == "refused: it has expired");
  CHECK(at(claims, nbf) == "reader");
  CHECK(at(claims, nbf - 60s) == "reader");
  CHECK(at(claims, nbf - 60s - 1ms) == "refused: it is not valid yet");
  CHECK(at(claims, Instant(0s)) == "refused: it is not valid yet");

  JwtOptions exact;
  exact.keys = {kSecret};
  exact.audience = "stoka";
  exact.leeway = 0s;
  const auto strict = JwtVerifier::make(exact);
  REQUIRE(strict.has_value());
  CHECK(outcome(*strict, hs256(claims), exp - 1ms) == "reader");
  CHECK(outcome(*strict, hs256(claims), exp) == "refused: it has expired");
}

TEST_CASE("exp and nbf must be finite numbers") {
  const auto with_exp = [](const std::string& exp) {
    return of_claims(R"({"sub":"reader","aud":"stoka","exp":)" + exp + "}");
  };
  const auto with_nbf = [](const std::string& nbf) {
    return of_claims(R"({"sub":"reader","aud":"stoka","exp":1800000100,"nbf":)" + nbf + "}");
  };
  const std::string no_number = "refused: it has no \"exp\" that is a number";
  const std::string strict = "refused: its payload is not a strict JSON object";
  CHECK(of_claims(R"({"sub":"reader","aud":"stoka"})") == no_number);
  for (const char* text : {R"("1800000100")", "null", "true", "[1800000100]", "{}"}) {
    CAPTURE(text);
    CHECK(with_exp(text) == no_number);
    CHECK(with_nbf(text) == "refused: its \"nbf\" is not a number");
  }
  for (const char* text : {"1e400", "-1e400", "NaN", "Infinity", "-Infinity", "nan", "1e", "0x1",
                           "01800000100", "+1800000100", ".5"}) {
    CAPTURE(text);
    CHECK(with_exp(text) == strict);
    CHECK(with_nbf(text) == strict);
  }
  for (const char* text : {"-1", "0", "-0.0", "-1e308", "-9223372036854775808", "1e-400",
                           "-99999999999999999999999999"}) {
    CAPTURE(text);
    CHECK(with_exp(text) == "refused: it has expired");
    CHECK(with_nbf(text) == "reader");
  }
  for (const char* text :
       {"1e308", "9223372036854775807", "18446744073709551615", "99999999999999999999999999"}) {
    CAPTURE(text);
    CHECK(with_exp(text) == "reader");
    CHECK(with_nbf(text) == "refused: it is not valid yet");
  }
  CHECK(with_exp("1800000100.75") == "reader");
  CHECK(with_exp("1.8000001e9") == "reader");
}

TEST_CASE("the audience must be the configured one, or a list that contains it") {
  const auto with_aud = [](const std::string& aud) {
    return of_claims(R"({"sub":"reader","exp":1800000100,"aud":)" + aud + "}");
  };
  CHECK(with_aud(R"("stoka")") == "reader");
  CHECK(with_aud(R"(["stoka"])") == "reader");
  CHECK(with_aud(R"(["site","stoka"])") == "reader");
  CHECK(of_claims(R"({"sub":"reader","exp":1800000100})") == "refused: it is for another audience");
  for (const char* aud : {R"("site")", R"("Stoka")", R"("stoka ")", R"("stoka,site")", R"("")",
                          R"([])", R"(["site"])", R"([["stoka"]])", R"(["stoka",1])", "null",
                          "true", R"({"stoka":true})", R"("stoka\u0000")"}) {
    CAPTURE(aud);
    CHECK(with_aud(aud) == "refused: it is for another audience");
  }
}

TEST_CASE("the issuer is checked if one is configured") {
  const JwtVerifier by = verifier({kSecret}, "https://id.example");
  const std::string start = R"({"sub":"reader","aud":"stoka","exp":1800000100)";
  const auto with = [&](const std::string& rest) { return outcome(by, hs256(start + rest)); };
  CHECK(with(R"(,"iss":"https://id.example"})") == "reader");
  const std::string refused = "refused: it is from another issuer";
  CHECK(with("}") == refused);
  CHECK(with(R"(,"iss":"https://id.example/"})") == refused);
  CHECK(with(R"(,"iss":["https://id.example"]})") == refused);
  CHECK(with(R"(,"iss":null})") == refused);
  CHECK(of_claims(start + R"(,"iss":17})") == "reader");
}

TEST_CASE("a subject must be plain text of 1 to 1024 bytes") {
  const auto with_sub = [](const std::string& sub) {
    return of_claims(R"({"aud":"stoka","exp":1800000100,"sub":)" + sub + "}");
  };
  CHECK(with_sub("\"J\u00F6rg \U0001F600\"") == "J\u00F6rg \U0001F600");
  CHECK(with_sub(R"("\u00e9|1")") == "\u00E9|1");
  const std::string longest(1024, 'a');
  CHECK(with_sub('"' + longest + '"') == longest);
  const std::string refused = "refused: its \"sub\" is not plain text of 1 to 1024 bytes";
  CHECK(of_claims(R"({"aud":"stoka","exp":1800000100})") == refused);
  for (const std::string& sub :
       {std::string(R"("")"), std::string("17"), std::string("null"), std::string(R"(["a"])"),
        '"' + longest + "a\"", std::string(R"("a\u0000")"), std::string(R"("a\n")"),
        std::string(R"("a\tb")"), std::string(R"("\u001b[31m")"), std::string(R"("\u007f")"),
        std::string(R"("\u0085")"), std::string(R"("\u202e")")}) {
    CAPTURE(sub);
    CHECK(with_sub(sub) == refused);
  }
  const std::string strict = "refused: its payload is not a strict JSON object";
  for (const char* sub :
       {"\"\xff\"", "\"\xed\xa0\x80\"", R"("\ud800")", R"("\udc00\ud800")", "\"a\nb\""}) {
    CAPTURE(sub);
    CHECK(with_sub(sub) == strict);
  }
}

TEST_CASE("the signature is checked before the claims") {
  const std::string old = R"({"sub":"reader","aud":"site","exp":1})";
  CHECK(outcome(all_keys(),
                hs256(old, R"({"alg":"HS256"})", "some other secret that is long enough")) ==
        "refused: no key verifies its signature");
}

TEST_CASE("keys without an audience are refused, and an error names a key by its number") {
  JwtOptions options;
  CHECK(JwtVerifier::make(options).has_value());
  options.keys = {kSecret, "short"};
  auto made = JwtVerifier::make(options);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().kind == ErrorKind::config);
  CHECK(made.error().message == "JWT keys are set without an audience");
  options.audience = "stoka";
  made = JwtVerifier::make(options);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().kind == ErrorKind::config);
  CHECK(made.error().message == "JWT key 2 is a secret of 5 bytes, too short to be safe");
}

TEST_CASE("an error repeats nothing of the token") {
  const auto subject = all_keys().verify(
      hs256(R"({"sub":"canary","aud":"canary","exp":"canary","iss":"canary"})"), kNow);
  REQUIRE_FALSE(subject.has_value());
  CHECK(subject.error().hint.find("canary") == std::string::npos);
}

TEST_CASE("a token verifier can be moved and used by many threads") {
  JwtVerifier made = verifier({kSecret, rsa().public_pem(), ec().public_pem()});
  const JwtVerifier by = std::move(made);
  const std::vector<std::string> tokens = {hs256(kClaims), rs256(kClaims), es256(kClaims)};
  std::vector<int> good(4, 0);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < good.size(); ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round)
        for (const std::string& token : tokens)
          good[i] += by.verify(token, kNow).value_or("") == "reader";
    });
  for (std::thread& thread : threads) thread.join();
  for (const int count : good) CHECK(count == 60);
}

}  // namespace jwt_test
