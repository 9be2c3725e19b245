#include "ingest/code_fence.h"

#include <doctest/doctest.h>

namespace code_fence_test {

using namespace stoka::ingest;

TEST_CASE("an info string can mark its code secret with a word or an attribute") {
  struct {
    std::string_view info;
    bool secret;
  } cases[] = {
      {"", false},
      {"env", false},
      {"secret", true},
      {"env secret", true},
      {"env SECRET", true},
      {"{secret}", true},
      {"env {secret}", true},
      {"env {.secret}", true},
      {"{.env .secret #id}", true},
      {"env secret=true", true},
      {"env secret=\"yes\"", true},
      {"env secret=1", true},
      {"env {secret: true}", true},
      {"env, is_secret=true", true},
      {"js metadata.secret=true", true},
      {"env title=\"x\" secret", true},
      {"env secret=false", false},
      {"env secret=\"no\"", false},
      {"env {secret: false}", false},
      {"env secret=", false},
      {"env title=\"a secret\"", false},
      {"env 'secret'", false},
      {"env title=secret", false},
      {"secretary", false},
      {"env not-secret", false},
      {"env \"never closed secret", false},
      {"=:={}'", false},
  };
  for (const auto& c : cases) {
    CAPTURE(c.info);
    CHECK(is_marked_secret(c.info) == c.secret);
  }
}

TEST_CASE("a code fence is closed by a fence of the same character and at least the same length") {
  const CodeFence open = parse_code_fence("  ```` sh secret ");
  CHECK(open.length == 4);
  CHECK(open.info == "sh secret");
  CHECK(parse_code_fence("````").closes(open));
  CHECK(parse_code_fence("> `````").closes(open));
  CHECK_FALSE(parse_code_fence("```").closes(open));
  CHECK_FALSE(parse_code_fence("~~~~").closes(open));
  CHECK_FALSE(parse_code_fence("```` sh").closes(open));
  CHECK(parse_code_fence("``").length == 0);
  CHECK(parse_code_fence("``` a`b").length == 0);
}

}  // namespace code_fence_test
