#include "base/secret.h"

#include <doctest/doctest.h>

using namespace stoka;

TEST_CASE("a secret prints as stars, and nothing as nothing") {
  CHECK(fmt::format("{}", Secret("sk-12345678")) == "***");
  CHECK(fmt::format("{}", Secret()) == "");
}

TEST_CASE("a text is freed of every occurrence") {
  const Secret secret("sk-12345678");
  CHECK(secret.redact("no sk-12345678 and sk-12345678sk-12345678") == "no *** and ******");
  CHECK(secret.redact("nothing here") == "nothing here");
  CHECK(secret.redact("") == "");
}

TEST_CASE("what only stands in for a key stays in texts") {
  CHECK(Secret("EMPTY").redact("an EMPTY house") == "an EMPTY house");
  CHECK(Secret().redact("x") == "x");
}

TEST_CASE("a long text full of the secret is freed in one go") {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += "sk-12345678 ";
  CHECK(Secret("sk-12345678").redact(text).size() == 200000 * 4);
}
