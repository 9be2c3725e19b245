// Removes from a page, before its markdown is parsed, the syntax that a site generator would have
// replaced, and the constructs that would make the parser slow.
#pragma once

#include <string>
#include <string_view>

namespace stoka::ingest {

enum class Dialect { markdown, mdx };

// Removes Hugo shortcodes, Liquid and Tera tags, kramdown and heading attributes, admonition
// markers and footnote marks. The text between paired tags stays, highlight tags become code
// fences, comment tags are removed with their contents, [[page|label]] becomes its label. MDX also
// loses import and export statements, the tags of components, and expressions. Code fences and code
// spans do not change. Lists and quotes nested more than 64 deep are flattened. Linear time.
std::string preprocess_markdown(std::string_view markdown, Dialect dialect);

}  // namespace stoka::ingest
