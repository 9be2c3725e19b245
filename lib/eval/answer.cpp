#include "eval/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <variant>

#include "base/ascii.h"

namespace stoka::eval {
namespace {

bool is_blank(const Answer::Part& part) { return !part.citation && trimmed(part.text).empty(); }

}  // namespace

std::string Answer::text() const {
  std::string out;
  for (const Part& part : parts) {
    const std::string_view text = trimmed(part.text);
    if (part.citation || text.empty()) continue;
    if (!out.empty()) out += "\n\n";
    out += text;
  }
  return out;
}

std::string Answer::text_with_markers() const {
  std::string out;
  size_t cited = 0;
  for (const Part& part : parts) {
    const std::string text =
        part.citation ? fmt::format("[{}]", ++cited) : std::string(trimmed(part.text));
    if (text.empty()) continue;
    if (!out.empty()) out += "\n\n";
    out += text;
  }
  return out;
}

std::vector<Citation> Answer::citations() const {
  std::vector<Citation> out;
  for (const Part& part : parts) {
    if (part.citation) out.push_back(*part.citation);
  }
  return out;
}

bool Answer::cites(std::string_view slug) const {
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    return part.citation && part.citation->slug == slug;
  });
}

void AnswerBuilder::add(const Event& event) {
  std::vector<Answer::Part>& parts = answer_.parts;
  // White space around citations is layout, not text that a visitor sees.
  const auto drop_blank = [&] {
    if (!parts.empty() && is_blank(parts.back())) parts.pop_back();
  };
  std::visit(
      [&](const auto& what) {
        using T = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<T, ReadyEvent>) {
          answer_.route = what.route;
        } else if constexpr (std::is_same_v<T, TokenEvent>) {
          if (what.text.empty()) return;
          if (parts.empty() || parts.back().citation) parts.emplace_back();
          parts.back().text += what.text;
        } else if constexpr (std::is_same_v<T, CiteEvent>) {
          drop_blank();
          parts.push_back({{}, what.citation});
        } else {
          drop_blank();
          if constexpr (std::is_same_v<T, DoneEvent>) answer_.confidence = what.confidence;
        }
      },
      event);
}

}  // namespace stoka::eval
