#include "text/markup.h"

namespace stoka::text {

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    default:
      out += c;
  }
}

std::string attribute_value(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (c == '"')
      out += "&quot;";
    else
      append_escaped(out, c == '\n' || c == '\r' || c == '\t' ? ' ' : c);
  }
  return out;
}

}  // namespace stoka::text
