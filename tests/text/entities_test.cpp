#include "text/entities.h"

#include <doctest/doctest.h>

namespace entities_test {

using stoka::text::decode_entities;

TEST_CASE("character references are decoded, and other ampersands stay") {
  CHECK(decode_entities("a &amp; b &lt;c&gt; &quot;d&quot;") == "a & b <c> \"d\"");
  CHECK(decode_entities("&mdash;&hellip;&eacute;&Eacute;&zwj;") == "—…éÉ\u200D");
  CHECK(decode_entities("&#8217;&#x2019;&#X2019;") == "’’’");
  CHECK(decode_entities("&#0;&#xD800;&#99999999999;") == "\uFFFD\uFFFD\uFFFD");
  CHECK(decode_entities("AT&T & &nosuch; &; &#; &#x; &amp") == "AT&T & &nosuch; &; &#; &#x; &amp");
  CHECK(decode_entities("&amp;lt;") == "&lt;");
  CHECK(decode_entities("").empty());
}

}  // namespace entities_test
