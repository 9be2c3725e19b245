#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "cite/grounds.h"
#include "eval/predicates.h"
#include "text/normalize.h"

namespace stoka::eval::predicate {
namespace {

// A quotation of this many words must come from the retrieved content; a shorter one is a phrase.
constexpr size_t kMinQuotedWords = 6;

// Everything that an answer may state: the question, the retrieved chunks and the citations.
cite::Grounds grounds_of(const Answer& answer) {
  cite::Grounds out;
  out.add(answer.query);
  for (const Hit& hit : answer.ranked) out.add(hit.chunk);
  for (const Answer::Part& part : answer.parts)
    if (part.citation) out.add(*part.citation);
  return out;
}

// Whether the text contains a citation tag or a fragment of one.
Reason leaked_tag(std::string_view text) {
  for (const std::string_view sign : {"<cite", "</cite", "&lt;cite", "[cite:", "[/cite"}) {
    if (text.find(sign) != std::string_view::npos) return fmt::format("shows '{}'", sign);
  }
  for (const std::string_view name : {"slug=", "quote="}) {
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
      const char before = at == 0 ? ' ' : text[at - 1];
      const size_t value = at + name.size();
      const bool quoted = value < text.size() && (text[value] == '"' || text[value] == '\'');
      if (quoted || before == ' ') return fmt::format("shows '{}'", name);
    }
  }
  size_t opened = std::string_view::npos;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool letter = at + 1 < text.size() && is_ascii_lower(text[at + 1]);
    if (text[at] == '<' && letter) opened = at;
    if (text.substr(at, 2) != "/>") continue;
    if (opened == std::string_view::npos) return "shows '/>'";
    opened = std::string_view::npos;
  }
  return std::nullopt;
}

}  // namespace

Reason ungrounded(const Answer& answer, const Phrases& phrases) {
  if (answer.is_canned()) return std::nullopt;
  if (answer.confidence == Confidence::nothing) return "answers where nothing was found";
  const std::string text = answer.text();
  const cite::Grounds grounds = grounds_of(answer);
  const PhraseList common(phrases, "common_name");
  const auto say = [](std::string_view what, const std::string& claim) {
    return fmt::format("{} '{}' is not in the retrieved content", what, clipped(claim));
  };
  if (auto found = grounds.unknown_number(text)) return say("number or date", *found);
  if (auto found = grounds.unknown_term(text)) return say("term", *found);
  if (auto found = grounds.unknown_quotation(text, kMinQuotedWords))
    return say("quotation", *found);
  if (auto found = grounds.unknown_name(text, common)) return say("name", *found);
  return std::nullopt;
}

Reason invented(const Answer& answer, const Phrases&) {
  for (const Answer::Part& part : answer.parts) {
    if (!part.citation) continue;
    const std::string& slug = part.citation->slug;
    const bool known = std::any_of(answer.ranked.begin(), answer.ranked.end(),
                                   [&](const Hit& hit) { return hit.chunk.slug == slug; });
    if (!known) return fmt::format("cites {}, which was not retrieved", slug);
  }
  const std::string text = answer.text();
  // A citation tag in backticks is still a leaked tag; other markup in backticks is code.
  const std::string folded = text::fold(text);
  if (folded.find("<cite") != std::string::npos) return "shows '<cite'";
  return leaked_tag(text::fold(without_code(text)));
}

}  // namespace stoka::eval::predicate
