#include "prompt/escape.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "prompt/prompt.h"

namespace stoka::prompt {
namespace {

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

// Words that start a turn or a layer when they stand at the head of a line.
constexpr std::array<std::string_view, 6> kTurnWords = {"visitor",   "stoka",  "user",
                                                        "assistant", "system", "human"};

// The length of a turn marker ("visitor:", "  System :") at the head of `line`, else 0.
size_t turn_marker(std::string_view line) {
  size_t at = 0;
  auto skip_spaces = [&] {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  };
  skip_spaces();
  for (std::string_view word : kTurnWords) {
    std::string_view rest = line.substr(at);
    bool same = rest.size() > word.size() &&
                std::equal(word.begin(), word.end(), rest.begin(), [](char a, char b) {
                  return a == std::tolower(static_cast<unsigned char>(b));
                });
    if (!same) continue;
    at += word.size();
    skip_spaces();
    return at < line.size() && line[at] == ':' ? at : 0;
  }
  return 0;
}

}  // namespace

std::string attribute(std::string_view untrusted) {
  std::string out;
  for (char c : untrusted) {
    if (c == '"')
      out += "&quot;";
    else
      append_escaped(out, c == '\n' || c == '\r' || c == '\t' ? ' ' : c);
  }
  return out;
}

std::string neutralize(std::string_view untrusted) {
  std::string out;
  out.reserve(untrusted.size() + untrusted.size() / 16);
  bool line_start = true;
  for (size_t i = 0; i < untrusted.size(); ++i) {
    if (line_start) {
      // A bracketed line is how layers open; a turn word with a colon is how turns do.
      if (untrusted[i] == '[') out += '\\';
      if (size_t colon = turn_marker(untrusted.substr(i)); colon > 0) {
        for (size_t j = 0; j < colon; ++j) append_escaped(out, untrusted[i + j]);
        out += " -";
        i += colon;
        line_start = false;
        continue;
      }
    }
    append_escaped(out, untrusted[i]);
    line_start = untrusted[i] == '\n';
  }
  return out;
}

}  // namespace stoka::prompt
