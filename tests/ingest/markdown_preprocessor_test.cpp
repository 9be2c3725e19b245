#include "ingest/markdown_preprocessor.h"

#include <doctest/doctest.h>

namespace markdown_preprocessor_test {

using namespace stoka::ingest;

TEST_CASE("template syntax is removed and text is kept") {
  struct {
    std::string_view text, expected;
  } cases[] = {
      {"", ""},
      {"plain { braces } and < less", "plain { braces } and < less"},
      {"a {{< figure src=\"x.png\" >}} b", "a  b"},
      {"a {{< figure\n  src=\"x.png\"\n>}} b", "a  b"},
      {"{{% note %}}inner{{% /note %}}", "inner"},
      {"{% include x.html %}text", "text"},
      {"{%- if x -%}text{%- endif -%}", "text"},
      {"Hello {{ site.title }}!", "Hello !"},
      {"[link]({{ site.url }}/x)", "[link](/x)"},
      {"`{{ code }}` and ``{% x ` y %}``", "`{{ code }}` and ``{% x ` y %}``"},
      {"```\n{{ code }}\n```\n{{ gone }}\n", "```\n{{ code }}\n```\n\n"},
      {"~~~~\n```\n{{ a }}\n~~~~\n{{ b }}", "~~~~\n```\n{{ a }}\n~~~~\n"},
      {"> ```\n> {{ a }}\n> ```\n", "> ```\n> {{ a }}\n> ```\n"},
      {"```\nnever closed {{ a }}", "```\nnever closed {{ a }}"},
      {"{% highlight ruby %}\nputs {{x}}\n{% endhighlight %}",
       "\n~~~~~~~~ ruby\n\nputs {{x}}\n\n~~~~~~~~\n"},
      {"{% highlight a %}b{% endhighlight %}\u00E9", "\n~~~~~~~~ a\nb\n~~~~~~~~\n\u00E9"},
      {"{{{ name }}}, {{{ name }}\u00E9", ", \u00E9"},
      {"{% comment %}secret plan{% endcomment %}text", "text"},
      {"{% raw %}{ kept }{% endraw %}", "{ kept }"},
      {"## Title {#anchor .class}", "## Title "},
      {"text\n{: .no_toc }\n", "text\n\n"},
      {"a footnote[^1] here\n\n[^1]: The note.\n", "a footnote here\n\n\n The note.\n"},
      {"> [!NOTE]\n> text", "> \n> text"},
      {"[![badge](a.png)](b)", "[![badge](a.png)](b)"},
      {"[[Page|label]] and [[Other]]", "label and Other"},
      {":::tip[Careful]\ninner\n:::\n", "\nCareful\n\ninner\n\n\n\n"},
      {"a|b\n:-|-:\nc|d", "a|b\n:---|---:\nc|d"},
      {"unclosed {{ here and {% there", "unclosed {{ here and {% there"},
      {"escaped \\{\\{ x and \\` y", "escaped \\{\\{ x and \\` y"},
      {"import x from 'y' is prose in markdown", "import x from 'y' is prose in markdown"},
      {"<Component a={1}>text</Component>", "<Component a={1}>text</Component>"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(preprocess_markdown(c.text, Dialect::markdown) == c.expected);
  }
}

TEST_CASE("MDX loses its module statements, component tags and expressions") {
  struct {
    std::string_view text, expected;
  } cases[] = {
      {"import A from './a'\nimport {\n  B\n} from 'b'\n\ntext", "text"},
      {"export const x = {\n  a: 1\n}\n\ntext", "text"},
      {"<Card title=\"x > y\" data={{ a: [1, 2] }} on={() => <b/>}>\ninner\n</Card>", "\ninner\n"},
      {"<Tabs.Item />text<>frag</>", "textfrag"},
      {"Total: {frontmatter.total} {/* comment */}.", "Total:  ."},
      {"`{code}` and\n```jsx\nimport x from 'y'\n<A b={c}/>\n```\n",
       "`{code}` and\n```jsx\nimport x from 'y'\n<A b={c}/>\n```\n"},
      {"<div class=\"x\">html</div>", "<div class=\"x\">html</div>"},
      {"exporting data is import work", "exporting data is import work"},
      {"<Unclosed {", "<Unclosed {"},
      {"a < B", "a < B"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    CHECK(preprocess_markdown(c.text, Dialect::mdx) == c.expected);
  }
}

TEST_CASE("many unclosed constructs are processed in linear time") {
  for (std::string_view unit :
       {"{{ ", "{% ", "`a ``", "[^", "[[", "{", "<A ", "<A {", "{% comment %}", "{#", ":::", "\\",
        "{{< highlight >}}", "```\n~~~\n"}) {
    std::string text;
    while (text.size() < 100'000) text += unit;
    for (Dialect dialect : {Dialect::markdown, Dialect::mdx})
      CHECK(preprocess_markdown(text, dialect).size() <= 2 * text.size());
  }
}

}  // namespace markdown_preprocessor_test
