#include "ingest/html.h"

#include <doctest/doctest.h>

#include <string>

namespace html_test {

using namespace stoka::ingest;

namespace {

std::string flat(std::string_view html) {
  std::string out;
  for (const Block& block : parse_html(html)) {
    if (!out.empty()) out += "|";
    if (block.kind == BlockKind::heading) out += "h" + std::to_string(block.level) + ":";
    if (block.kind == BlockKind::code) out += "code:";
    out += block.text;
  }
  return out;
}

}  // namespace

TEST_CASE("HTML becomes blocks of text without tags, scripts and comments") {
  struct {
    std::string_view html, expected;
  } cases[] = {
      {"", ""},
      {"<p>One <b>two</b> three.</p><p>Four</p>", "One two three.|Four"},
      {"<h2 id='x'>Title</h2>text", "h2:Title|text"},
      {"a<br>b<br/>c", "a|b|c"},
      {"<script>if (a < b) x('</p>');</script>text<style>p{}</style>", "text"},
      {"<svg><path d='x'/></svg>after", "after"},
      {"<!-- a > b -->text<!DOCTYPE html><?php echo 1 ?>", "text"},
      {"<a href=\"x>y\" title='it>s'>link</a>", "link"},
      {"a < b and 3 <4 <- x", "a < b and 3 <4 <- x"},
      {"&amp;&nbsp;&lt;b&gt;", "& <b>"},
      {"<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b|c"},
      {"<pre>  x\n    y\n</pre>z", "code:  x\n    y|z"},
      {"<details><summary>Sum</summary>Body</details>", "Sum|Body"},
      {"<script>never closed", ""},
      {"text <!-- never closed", "text"},
      {"<a title=\"never closed>text", "text"},
      {"<p", ""},
      {"<", "<"},
      {"</", "</"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.html);
    CHECK(flat(c.html) == c.expected);
  }
}

TEST_CASE("many unclosed quotes, tags and comments are parsed in linear time") {
  for (std::string_view unit :
       {"<a '", "<a \"", "<!--", "<script", "</", "<", "<a b='\">", "<script></"}) {
    std::string html;
    for (int i = 0; i < 20'000; ++i) html += unit;
    CHECK(parse_html(html).size() <= 20'001);
  }
}

}  // namespace html_test
