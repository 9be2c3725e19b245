#include "terminal/cite_box.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "text/normalize.h"
#include "text/width.h"

namespace stoka::terminal {
namespace {

constexpr int kMaxColumns = 72;
constexpr int kMinFramed = 30;
constexpr int kMinCompact = 8;  // below this no wrapping helps

struct BoxLine {
  Look look;
  std::string text;
};

struct Frame {
  std::string_view top_left, top_right, bottom_left, bottom_right, horizontal, vertical;
};
constexpr Frame kUnicode = {"┌", "┐", "└", "┘", "─", "│"};
constexpr Frame kAscii = {"+", "+", "+", "+", "-", "|"};

std::string shown(std::string_view untrusted) { return text::squeeze(printable(untrusted)); }

std::string title_of(const Citation& citation) {
  std::string title = shown(citation.title);
  return title.empty() ? shown(citation.slug) : title;
}

std::vector<BoxLine> lines_of(const Citation& citation, const Capabilities& capabilities,
                              size_t columns) {
  std::vector<BoxLine> lines;
  for (std::string& line : text::wrap(title_of(citation), columns)) {
    lines.push_back({Look::title, std::move(line)});
  }
  if (const std::string quote = shown(citation.quote); !quote.empty()) {
    // Continuation lines hang under the first letter, not under the quotation mark.
    char lead = '"';
    for (const std::string& line : text::wrap(quote + '"', columns - 1)) {
      lines.push_back({Look::quote, lead + line});
      lead = ' ';
    }
  }
  if (const std::string meta = cite_meta(citation, capabilities); !meta.empty()) {
    for (std::string& line : text::wrap(meta, columns)) {
      lines.push_back({Look::meta, std::move(line)});
    }
  }
  return lines;
}

std::string drawn(const BoxLine& line, std::string_view target, const Capabilities& capabilities) {
  const std::string painted = paint(line.look, line.text, capabilities);
  return line.look == Look::title ? link(painted, target, capabilities) : painted;
}

std::string repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string framed(const Citation& citation, const Capabilities& capabilities,
                   std::string_view target) {
  const Frame& f = capabilities.unicode ? kUnicode : kAscii;
  const auto width = static_cast<size_t>(std::min(capabilities.columns, kMaxColumns));
  const size_t inner = width - 4;
  const auto grey = [&](std::string_view text) { return paint(Look::meta, text, capabilities); };

  constexpr std::string_view kLabel = " cite ";
  std::string out = grey(fmt::format("{}{}{}{}{}", f.top_left, f.horizontal, kLabel,
                                     repeat(f.horizontal, width - 3 - kLabel.size()), f.top_right));
  for (const BoxLine& line : lines_of(citation, capabilities, inner)) {
    const size_t taken = std::min(text::display_width(line.text), inner);
    out += fmt::format("\n{} {}{} {}", grey(f.vertical), drawn(line, target, capabilities),
                       std::string(inner - taken, ' '), grey(f.vertical));
  }
  return out + '\n' +
         grey(
             fmt::format("{}{}{}", f.bottom_left, repeat(f.horizontal, width - 2), f.bottom_right));
}

std::string compact(const Citation& citation, const Capabilities& capabilities,
                    std::string_view target) {
  const auto columns = static_cast<size_t>(std::max(capabilities.columns, kMinCompact));
  std::string out;
  for (const BoxLine& line : lines_of(citation, capabilities, columns)) {
    if (!out.empty()) out += '\n';
    out += drawn(line, target, capabilities);
  }
  return out;
}

std::string block_quote(const Citation& citation, const Capabilities& capabilities,
                        std::string_view target) {
  std::string out = "> " + paint(Look::title, title_of(citation), capabilities);
  const auto add = [&](Look look, const std::string& line) {
    if (!line.empty()) out += "\n> " + paint(look, line, capabilities);
  };
  if (const std::string quote = shown(citation.quote); !quote.empty()) {
    add(Look::quote, fmt::format("\"{}\"", quote));
  }
  add(Look::meta, cite_meta(citation, capabilities));
  add(Look::meta, target.empty() ? shown(citation.url) : std::string(target));
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

std::string cite_box(const Citation& citation, const Capabilities& capabilities,
                     std::string_view site) {
  const std::string target = link_target(citation.url, site);
  if (!capabilities.tty) return block_quote(citation, capabilities, target);
  if (capabilities.columns < kMinFramed) return compact(citation, capabilities, target);
  return framed(citation, capabilities, target);
}

}  // namespace stoka::terminal
