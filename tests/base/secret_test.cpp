#include "base/secret.h"

#include <doctest/doctest.h>

#include <string>

namespace secret_test {

using namespace stoka;

TEST_CASE("a secret is formatted as ***, an empty one as nothing") {
  CHECK(fmt::format("{}", Secret("sk-12345678")) == "***");
  CHECK(fmt::format("{}", Secret()) == "");
}

TEST_CASE("every occurrence of a secret is redacted") {
  const Secret secret("sk-12345678");
  CHECK(secret.redact("no sk-12345678 and sk-12345678sk-12345678") == "no *** and ******");
  CHECK(secret.redact("nothing here") == "nothing here");
  CHECK(secret.redact("") == "");
}

TEST_CASE("a short placeholder for a key is not redacted") {
  CHECK(Secret("EMPTY").redact("an EMPTY house") == "an EMPTY house");
  CHECK(Secret().redact("x") == "x");
}

TEST_CASE("a secret is redacted in every JSON spelling") {
  const Secret secret("sk/1+2\"34\\x");
  for (const std::string spelled :
       {R"(sk/1+2"34\x)", R"(sk/1+2\"34\\x)", R"(sk\/1\u002b2\u002234\u005Cx)",
        R"(\u0073\u006B\/1+2\"34\\\u0078)"}) {
    CAPTURE(spelled);
    CHECK(secret.redact(R"({"m":"\n)" + spelled + R"(\t\\"})") == R"({"m":"\n***\t\\"})");
  }
  for (const std::string other : {R"(sk\/1+2\"34\\)", R"(sk\/1\u002)", R"(sk\u012f1+2\"34\\x)",
                                  R"(\u00)", R"(\)", R"(sk\)"}) {
    CAPTURE(other);
    CHECK(secret.redact(other) == other);
  }
  // An escaped backslash before the secret stays whole.
  CHECK(Secret("/12345678").redact(R"("\\/12345678 \/12345678")") == R"("\\*** ***")");
}

TEST_CASE("redaction takes linear time") {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "sk-12345678 ";
  CHECK(Secret("sk-12345678").redact(text).size() == 200000 * 4);
}

}  // namespace secret_test
