#include "terminal/cite_box.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/url.h"
#include "text/normalize.h"
#include "text/width.h"

namespace stoka::terminal {
namespace {

constexpr int kMaxColumns = 72;
constexpr int kMinFramedColumns = 30;
constexpr int kMinCompactColumns = 8;  // columns; a narrower terminal is treated as this wide

struct BoxLine {
  Style style;
  std::string text;
};

struct Frame {
  std::string_view top_left, top_right, bottom_left, bottom_right, horizontal, vertical;
};
constexpr Frame kUnicode = {"┌", "┐", "└", "┘", "─", "│"};
constexpr Frame kAscii = {"+", "+", "+", "+", "-", "|"};

std::string shown(std::string_view untrusted) {
  return text::collapse_whitespace(sanitize_line(untrusted));
}

std::string title_of(const Citation& citation) {
  std::string title = shown(citation.title);
  return title.empty() ? shown(citation.slug) : title;
}

// The lines of a citation. `lead` is printed before the title.
std::vector<BoxLine> lines_of(const Citation& citation, const Capabilities& capabilities,
                              size_t columns, std::string lead = {}) {
  std::vector<BoxLine> lines;
  constexpr size_t kMinWidth = 2;  // the width of one wide character
  for (const std::string& line :
       text::wrap(title_of(citation), std::max(columns, lead.size() + kMinWidth) - lead.size())) {
    lines.push_back({Style::title, lead + line});
    lead.assign(lead.size(), ' ');
  }
  if (const std::string quote = shown(citation.quote); !quote.empty()) {
    // Continuation lines are aligned with the first letter, not with the quotation mark.
    char first = '"';
    for (const std::string& line : text::wrap(quote + '"', columns - 1)) {
      lines.push_back({Style::quote, first + line});
      first = ' ';
    }
  }
  if (const std::string meta = cite_meta(citation, capabilities); !meta.empty()) {
    for (std::string& line : text::wrap(meta, columns)) {
      lines.push_back({Style::meta, std::move(line)});
    }
  }
  return lines;
}

std::string drawn(const BoxLine& line, const Citation& citation, const Capabilities& capabilities) {
  const std::string painted = paint(line.style, line.text, capabilities);
  return line.style == Style::title ? link(painted, citation.url, capabilities) : painted;
}

std::string numbered(size_t number) { return number == 0 ? "" : fmt::format("[{}] ", number); }

std::string repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string framed(const Citation& citation, const Capabilities& capabilities, size_t number) {
  const Frame& f = capabilities.unicode ? kUnicode : kAscii;
  const auto width = static_cast<size_t>(std::min(capabilities.columns, kMaxColumns));
  const size_t inner = width - 4;
  const auto grey = [&](std::string_view text) { return paint(Style::meta, text, capabilities); };

  const std::string label = number == 0 ? " cite " : fmt::format(" cite {} ", number);
  std::string out = grey(fmt::format("{}{}{}{}{}", f.top_left, f.horizontal, label,
                                     repeat(f.horizontal, width - 3 - label.size()), f.top_right));
  for (const BoxLine& line : lines_of(citation, capabilities, inner)) {
    const size_t taken = std::min(text::display_width(line.text), inner);
    out += fmt::format("\n{} {}{} {}", grey(f.vertical), drawn(line, citation, capabilities),
                       std::string(inner - taken, ' '), grey(f.vertical));
  }
  return out + '\n' +
         grey(
             fmt::format("{}{}{}", f.bottom_left, repeat(f.horizontal, width - 2), f.bottom_right));
}

std::string compact(const Citation& citation, const Capabilities& capabilities, size_t number) {
  const auto columns = static_cast<size_t>(std::max(capabilities.columns, kMinCompactColumns));
  std::string out;
  for (const BoxLine& line : lines_of(citation, capabilities, columns, numbered(number))) {
    if (!out.empty()) out += '\n';
    out += drawn(line, citation, capabilities);
  }
  return out;
}

std::string block_quote(const Citation& citation, const Capabilities& capabilities, size_t number) {
  std::string out = "> " + paint(Style::title, numbered(number) + title_of(citation), capabilities);
  const auto add = [&](Style style, const std::string& line) {
    if (!line.empty()) out += "\n> " + paint(style, line, capabilities);
  };
  if (const std::string quote = shown(citation.quote); !quote.empty()) {
    add(Style::quote, fmt::format("\"{}\"", quote));
  }
  add(Style::meta, cite_meta(citation, capabilities));
  add(Style::meta, cite_address(citation));
  return out;
}

}  // namespace

std::string cite_meta(const Citation& citation, const Capabilities& capabilities) {
  std::string out;
  const auto add = [&](std::string_view part, std::string_view suffix) {
    const std::string clean = shown(part);
    if (clean.empty()) return;
    if (!out.empty()) out += capabilities.unicode ? " · " : " - ";
    out.append(clean).append(suffix);
  };
  add(citation.type, "");
  add(citation.reading_time, " read");
  add(citation.date, "");
  return out;
}

std::string cite_address(const Citation& citation) {
  std::string address = safe_link(citation.url, {});
  if (!is_http_url(address)) address.resize(std::min(address.find("#:~:"), address.size()));
  return address;
}

std::string cite_box(const Citation& citation, const Capabilities& capabilities, size_t number) {
  if (!capabilities.tty) return block_quote(citation, capabilities, number);
  std::string out = capabilities.columns < kMinFramedColumns
                        ? compact(citation, capabilities, number)
                        : framed(citation, capabilities, number);
  const std::string address = number == 0 ? cite_address(citation) : "";
  return address.empty() ? out : out + '\n' + address;
}

}  // namespace stoka::terminal
