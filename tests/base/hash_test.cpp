#include "base/hash.h"

#include <doctest/doctest.h>

namespace hash_test {

using namespace stoka;

TEST_CASE("the content hash changes with every byte") {
  CHECK(content_hash("abc").size() == 32);
  CHECK(content_hash("abc") == content_hash("abc"));
  CHECK(content_hash("abc") != content_hash("abd"));
}

}  // namespace hash_test
