#include "eval/markup.h"

#include "text/entities.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::eval {
namespace {

bool is_noncharacter(char32_t c) { return (c & 0xFFFE) == 0xFFFE || (c >= 0xFDD0 && c <= 0xFDEF); }

// Normalises line breaks as an XML parser does, so that HTML and XML output agree.
std::string with_line_feeds(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r')
      out += text[i];
    else if (i + 1 == text.size() || text[i + 1] != '\n')
      out += '\n';
  }
  return out;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (size_t at = 0; at < text.size();)
    if (const char32_t c = text::next_code_point(text, at); !is_noncharacter(c))
      text::append_utf8(valid, c);

  std::string out;
  out.reserve(valid.size());
  for (const char c : text::replace_controls(with_line_feeds(valid))) {
    if (c == '"')
      out += "&quot;";
    else
      text::append_escaped(out, c);
  }
  return out;
}

}  // namespace stoka::eval
