// Bearer tokens for tests.
#pragma once

#include <string>
#include <string_view>

#include "serve/server_fixture.h"
#include "support/test_keys.h"

namespace stoka::testing {

using namespace std::chrono_literals;

inline const std::string kSecret = "a shared secret of forty characters, ok!";

inline std::string token(Json claims, std::string_view header = R"({"alg":"HS256"})") {
  const std::string input = url64(header) + "." + url64(claims.dump());
  return input + "." + url64(hmac(kSecret, input));
}

inline int64_t in(std::chrono::seconds time) {
  return std::chrono::duration_cast<std::chrono::seconds>((kNow + time).time_since_epoch()).count();
}

inline Json claims(const char* subject = "reader") {
  return {{"sub", subject}, {"aud", "stoka"}, {"exp", in(600s)}};
}

inline std::string bearer(const std::string& token) {
  return "Authorization: Bearer " + token + "\r\n";
}

inline void with_tokens(ServerFixture& fixture) {
  serve::JwtOptions options;
  options.keys = {kSecret};
  options.audience = "stoka";
  fixture.options.site.token_verifier = serve::JwtVerifier::make(options).value();
}

}  // namespace stoka::testing
