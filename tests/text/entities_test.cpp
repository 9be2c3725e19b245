#include "text/entities.h"

#include <doctest/doctest.h>

namespace entities_test {

using namespace stoka;

TEST_CASE("an attribute value cannot end its attribute") {
  CHECK(text::escape_attribute("a \"b\"\nc") == "a &quot;b&quot; c");
  CHECK(text::escape_attribute("<x> & y") == "&lt;x&gt; &amp; y");
  CHECK(text::escape_attribute("") == "");
}

TEST_CASE("character references become characters, and other ampersands stay") {
  for (const auto& [source, decoded] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a &amp; b &lt;c&gt; &quot;d&quot;", "a & b <c> \"d\""},
           {"&mdash;&hellip;&eacute;&Eacute;&zwj;", "—…éÉ\u200D"},
           {"&#8217;&#x2019;&#X2019;", "’’’"},
           {"&#0;&#xD800;&#99999999999;", "\uFFFD\uFFFD\uFFFD"},
           {"AT&T & &nosuch; &; &#; &#x; &amp", "AT&T & &nosuch; &; &#; &#x; &amp"},
           {"&amp;lt;", "&lt;"},
           {"", ""}}) {
    CAPTURE(std::string(source));
    CHECK(text::decode_entities(source) == decoded);
  }
}

}  // namespace entities_test
