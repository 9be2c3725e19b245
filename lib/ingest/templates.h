// Takes out of a page what its site generator would have replaced, before markdown is read.
#pragma once

#include <string>
#include <string_view>

namespace stoka::ingest {

enum class Dialect { markdown, mdx };

// Without Hugo shortcodes, Liquid and Tera tags, kramdown and heading attributes, admonition
// markers and footnote marks; text between paired tags stays, highlight tags become fences, comment
// tags go with their contents, [[page|label]] becomes its label. MDX also loses import and export
// statements, components' tags and expressions. Code fences and code spans are not touched. Linear.
std::string strip_templates(std::string_view markdown, Dialect dialect);

}  // namespace stoka::ingest
