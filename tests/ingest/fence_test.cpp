#include "ingest/fence.h"

#include <doctest/doctest.h>

namespace fence_test {

using namespace stoka::ingest;

TEST_CASE("an info string marks its code secret by name or value") {
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
    CHECK(marks_secret(c.info) == c.secret);
  }
}

TEST_CASE("a fence is closed by one at least as long of its kind") {
  const Fence open = fence_of("  ```` sh secret ");
  CHECK(open.length == 4);
  CHECK(open.info == "sh secret");
  CHECK(fence_of("````").closes(open));
  CHECK(fence_of("> `````").closes(open));
  CHECK_FALSE(fence_of("```").closes(open));
  CHECK_FALSE(fence_of("~~~~").closes(open));
  CHECK_FALSE(fence_of("```` sh").closes(open));
  CHECK(fence_of("``").length == 0);
  CHECK(fence_of("``` a`b").length == 0);
}

}  // namespace fence_test
