#include "eval/markup.h"

#include <doctest/doctest.h>

namespace markup_test {

using stoka::eval::escape_markup;

TEST_CASE("escaped text is safe between tags and inside an attribute") {
  struct Case {
    std::string text;
    std::string escaped;
  };
  for (const Case& c : {
           Case{"plain, with 'quotes' and ümläuts", "plain, with 'quotes' and ümläuts"},
           Case{"a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"},
           Case{"</script><b title=\"x\">", "&lt;/script&gt;&lt;b title=&quot;x&quot;&gt;"},
           Case{"]]>", "]]&gt;"},
           Case{"&lt;", "&amp;lt;"},
           Case{"line\r\nline\rline\nline\tend", "line\nline\nline\nline\tend"},
           Case{"bad \xff\xc3 bytes", "bad \ufffd\ufffd bytes"},
           Case{std::string("nul\0, bell\a, escape\x1b[31m", 24), "nul, bell, escape[31m"},
           Case{"next\u0085line", "next\nline"},
           Case{"noncharacters \uffff\ufffe\ufdd0\U0001ffff.", "noncharacters ."},
           Case{"\u202egnorw\u202c", "gnorw"},
           Case{"", ""},
       })
    CHECK(escape_markup(c.text) == c.escaped);
}

}  // namespace markup_test
