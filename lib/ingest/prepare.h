// What a page loses before its markdown is parsed: what its site generator would have replaced, and
// what would overtax the parser.
#pragma once

#include <string>
#include <string_view>

namespace stoka::ingest {

enum class Dialect { markdown, mdx };

// Without Hugo shortcodes, Liquid and Tera tags, kramdown and heading attributes, admonition
// markers and footnote marks; text between paired tags stays, highlight tags become fences, comment
// tags go with their contents, [[page|label]] becomes its label. MDX also loses import and export
// statements, components' tags and expressions. Code fences and code spans are not touched. More
// than 64 lists and quotes in one another are flattened. Linear.
std::string prepare_markdown(std::string_view markdown, Dialect dialect);

}  // namespace stoka::ingest
