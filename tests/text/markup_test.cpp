#include "text/markup.h"

#include <doctest/doctest.h>

namespace markup_test {

using namespace stoka;

TEST_CASE("an attribute value cannot end its attribute") {
  CHECK(text::attribute_value("a \"b\"\nc") == "a &quot;b&quot; c");
  CHECK(text::attribute_value("<x> & y") == "&lt;x&gt; &amp; y");
  CHECK(text::attribute_value("") == "");
}

}  // namespace markup_test
