#include "ingest/markdown.h"

#include <doctest/doctest.h>

#include <string>

#include "text/utf8.h"

namespace markdown_test {

using namespace stoka;
using namespace stoka::ingest;

namespace {

std::string flat(const std::vector<Block>& blocks) {
  constexpr const char* kKinds[] = {"h", "p", "code", "li", "row", "q"};
  std::string out;
  for (const Block& block : blocks) {
    if (!out.empty()) out += " / ";
    out += kKinds[static_cast<int>(block.kind)];
    if (block.level > 0) out += std::to_string(block.level);
    out += ":" + block.text;
  }
  return out;
}

std::string flat(std::string_view text) { return flat(parse_markdown(text).blocks); }

}  // namespace

TEST_CASE("markdown becomes blocks of plain text") {
  struct {
    std::string_view text, expected;
  } cases[] = {
      {"", ""},
      {"# One\n\ntext *with* **marks** and `code`.", "h1:One / p:text with marks and code."},
      {"One\n===\n\nTwo\n---\n", "h1:One / h2:Two"},
      {"soft\nbreak  \nhard", "p:soft break\nhard"},
      {"[link](http://x \"t\") and <http://y> and ![alt *x*](i.png) ![](j.png)",
       "p:link and http://y and alt x"},
      {"```py\n## no heading\n\n  x\n```\n", "code:## no heading\n\n  x"},
      {"    indented\n      code\n", "code:indented\n  code"},
      {"- a\n- b\n  - c\n\n    d\n- [ ] task", "li:a / li:b / li:c / li:d / li:task"},
      {"1. one\n2. two", "li:one / li:two"},
      {"> quoted\n> text\n>\n> - item", "q:quoted text / li:item"},
      {"| a | b |\n|---|---|\n| 1 | **2** |\n| | 3 |", "row:a | b / row:1 | 2 / row:3"},
      {"a|b\n-|-\n1|2", "row:a | b / row:1 | 2"},
      {"a &amp; b &copy; &nosuch;", "p:a & b © &nosuch;"},
      {"text <b>bold</b> <!-- gone --> x<br>y", "p:text bold x\ny"},
      {"<div>\n<p>html</p>\n</div>\n\n*md*", "p:html / p:md"},
      {"<script>\nvar x = '<p>';\n\nmore\n</script>\n\ntext", "p:text"},
      {"before <script>x()</script> after", "p:before after"},
      {"a <script>x &amp;&amp; y</script> b <svg>&copy;  \nc</svg> d <style>&#65;</style> e &lt;",
       "p:a b d e <"},
      {"*<svg>*\n\nThe next paragraph.", "p:The next paragraph."},
      {"| a | b |\n|---|---|\n| <svg> | c |", "row:a | b / row:c"},
      {"one <script>x('<svg>')<br></script> two", "p:one two"},
      {"<h1 align=\"center\">Title</h1>\n\ntext", "h1:Title / p:text"},
      {"intro\n\n<!--more-->\n\nrest", "p:intro / p:rest"},
      {"## A {#a}\n\n{{< note >}}\nkept\n{{< /note >}}\n", "h2:A / p:kept"},
      {"a[^1]\n\n[^1]: Note text.", "p:a / p:Note text."},
      {"~~old~~ new", "p:old new"},
      {"***\n", ""},
      {"# \n\n##\n", ""},
      {"日本語の**文章**です。", "p:日本語の文章です。"},
      {"\\*not\\* marked", "p:*not* marked"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(flat(c.text) == c.expected);
  }
}

TEST_CASE("MDX is reduced to its text") {
  std::string_view page =
      "import Chart from './Chart.astro'\n\n# Title\n\n<Chart data={[1, 2]} />\n\n"
      "<Note kind=\"x\">Read this.</Note>\n\n{props.children}\n\nend";
  CHECK(flat(parse_markdown(page, Dialect::mdx).blocks) == "h1:Title / p:Read this. / p:end");
}

TEST_CASE("hostile pages become valid blocks in bounded time") {
  std::string cells = "|";
  for (int i = 0; i < 120; ++i) cells += "a|";
  cells += "\n|";
  for (int i = 0; i < 120; ++i) cells += "-|";
  for (int i = 0; i < 5'000; ++i) cells += "\n|x";
  Markdown table = parse_markdown(cells);
  CHECK(table.plain);
  CHECK(!table.blocks.empty());

  for (std::string_view unit :
       {"> ", "- ", "[", "![", "*a_", "`", "<", "<!--", "&", "\\", "[a](", "|", "1. ", "~", "{{",
        "a\n===\n", "[a]: b\n", "\xF0\x9F\x98\x80"}) {
    CAPTURE(unit);
    std::string text;
    while (text.size() < 50'000) text += unit;
    Markdown page = parse_markdown(text);
    for (const Block& block : page.blocks) {
      REQUIRE(!block.text.empty());
      REQUIRE(text::is_valid_utf8(block.text));
    }
  }
}

}  // namespace markdown_test
