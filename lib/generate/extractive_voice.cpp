#include "generate/extractive_voice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "text/characters.h"
#include "text/entities.h"
#include "text/pull_quote.h"
#include "text/sentences.h"
#include "text/utf8.h"

namespace stoka::generate {

namespace {

constexpr std::string_view kAnyType = "any";
constexpr size_t kMaxSentences = 2;
// The largest score difference between the first and the second citation.
constexpr double kMaxScoreGap = 0.08;

uint64_t fnv1a(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

// Even turns choose among the even lines and odd turns among the odd ones, so that consecutive
// turns never repeat a line although no state is kept.
const std::string& pick(const std::vector<std::string>& lines, uint64_t seed, int turns) {
  const size_t parity = lines.size() > 1 && turns % 2 != 0 ? 1 : 0;
  const size_t choices = lines.size() > 1 ? (lines.size() - parity + 1) / 2 : 1;
  return lines[parity + 2 * (seed % choices)];
}

const std::vector<std::string>& of_type(const VoiceLines::ByType& lines, std::string_view type) {
  const auto found = lines.find(type);
  return found != lines.end() ? found->second : lines.find(kAnyType)->second;
}

std::string tag(const Hit& hit, std::string_view quote) {
  return fmt::format("<cite slug=\"{}\" quote=\"{}\"/>", text::escape_attribute(hit.chunk.slug),
                     text::escape_attribute(quote));
}

// What is wrong with a line; empty if it is valid.
std::string_view line_fault(std::string_view line, std::string_view group) {
  if (line.empty()) return "is empty";
  const char last = line.back();
  if (last != '.' && last != '?') return "does not end in '.' or '?'";
  if (group == "closers" && last != '?') return "is not a question";
  for (size_t at = 0; at < line.size();) {
    const char32_t c = text::next_code_point(line, at);
    if (c == '!' || text::is_emoji(c)) return "has an exclamation mark or an emoji";
    if (text::is_upper(c)) return "has a capital letter";
    if (c == '<' || c == '>' || text::is_control(c)) return "is not plain text";
  }
  const size_t max_sentences = group == "lateral" || group == "closers" ? 1 : kMaxSentences;
  if (text::count_sentences(line) > max_sentences) return "has too many sentences";
  return {};
}

std::vector<std::string>* find_list(VoiceLines& lines, std::string_view group,
                                    std::string_view type) {
  if (group == "direct" && !type.empty()) return &lines.direct[std::string(type)];
  if (group == "framing" && !type.empty()) return &lines.framing[std::string(type)];
  if (!type.empty()) return nullptr;
  if (group == "adjacent") return &lines.adjacent;
  if (group == "followup") return &lines.followup;
  if (group == "lateral") return &lines.lateral;
  if (group == "closers") return &lines.closers;
  return nullptr;
}

tl::unexpected<Error> invalid_lines(std::string_view what) {
  return fail(ErrorKind::config, fmt::format("voice_lines.toml {}", what),
              "compare with the built-in golden/voice_lines.toml");
}

}  // namespace

Result<VoiceLines> read_voice_lines(std::span<const TomlEntry> entries) {
  VoiceLines out;
  for (const TomlEntry& entry : entries) {
    const std::string_view key = entry.key;
    const size_t dot = std::min(key.find('.'), key.size());
    const std::string_view group = key.substr(0, dot);
    std::vector<std::string>* list =
        find_list(out, group, key.substr(std::min(dot + 1, key.size())));
    if (list == nullptr)
      return invalid_lines(fmt::format("line {}: unknown '{}'", entry.line, key));
    for (const std::string& line : entry.values) {
      if (const std::string_view wrong = line_fault(line, group); !wrong.empty()) {
        return invalid_lines(fmt::format("line {}: '{}' {}", entry.line, line, wrong));
      }
      list->push_back(line);
    }
    if (list->empty()) return invalid_lines(fmt::format("line {}: '{}' is empty", entry.line, key));
  }
  for (const auto& [name, missing] :
       {std::pair{"direct.any", !out.direct.contains(kAnyType)},
        std::pair{"framing.any", !out.framing.contains(kAnyType)},
        std::pair{"adjacent", out.adjacent.empty()}, std::pair{"followup", out.followup.empty()},
        std::pair{"lateral", out.lateral.empty()}, std::pair{"closers", out.closers.empty()}}) {
    if (missing) return invalid_lines(fmt::format("has no '{}'", name));
  }
  return out;
}

const std::string& ExtractiveVoice::opener(const GenerationRequest& request, const Hit& hit,
                                           uint64_t seed) const {
  if (request.confidence != Confidence::direct) return pick(lines_.adjacent, seed, request.turns);
  if (request.same_topic) return pick(lines_.followup, seed, request.turns);
  return pick(of_type(lines_.direct, hit.chunk.type), seed, request.turns);
}

std::string ExtractiveVoice::answer(const GenerationRequest& request) const {
  const uint64_t seed = fnv1a(request.query);
  const Hit* first = nullptr;
  std::string out;
  const auto open_with = [&](const Hit& hit, std::string_view quote) {
    first = &hit;
    const std::string_view line = !request.opening.empty() ? std::string_view(request.opening)
                                  : request.low_confidence
                                      ? std::string_view(lines_.closest)
                                      : std::string_view(opener(request, hit, seed));
    out = fmt::format("{}\n{}", line, tag(hit, quote));
  };
  for (size_t i = 0; i < request.hits.size(); ++i) {
    const Hit& hit = request.hits[i];
    const bool same_source =
        first != nullptr && (hit.chunk.slug == first->chunk.slug ||
                             (!hit.chunk.title.empty() && hit.chunk.title == first->chunk.title));
    if (same_source) continue;
    const bool wants_second = request.confidence == Confidence::direct && !request.low_confidence;
    if (first != nullptr && (!wants_second || hit.score < first->score - kMaxScoreGap)) break;
    const std::span<const std::string> document =
        i < request.documents.size() ? request.documents[i] : std::span<const std::string>();
    const std::string quote = text::best_sentence(hit.chunk.content, document, request.query);
    if (quote.empty()) continue;
    if (first != nullptr) {
      out += fmt::format("\n{}\n{}", pick(lines_.lateral, seed, request.turns), tag(hit, quote));
      break;
    }
    open_with(hit, quote);
  }
  // A page that consists of code only is cited without a quote.
  if (first == nullptr && !request.hits.empty()) open_with(request.hits.front(), "");
  if (first == nullptr) return std::string(kNothingFound);
  // After a low-confidence answer, a question would suggest that the answer was right.
  if (!request.low_confidence) out += "\n" + pick(lines_.closers, seed, request.turns);
  return out;
}

Result<std::unique_ptr<GenerationStream>> ExtractiveVoice::begin(const GenerationRequest& request,
                                                                 std::stop_token) {
  const std::string text = answer(request);
  std::vector<std::string> words;
  for (std::string_view rest = text; !rest.empty();) {
    words.emplace_back(rest.substr(0, rest.find(' ', 1)));
    rest.remove_prefix(words.back().size());
  }
  return known_answer(std::move(words));
}

std::vector<std::optional<std::string>> ExtractiveVoice::frame(std::span<const Hit> hits,
                                                               std::stop_token) {
  std::vector<std::optional<std::string>> out;
  for (const Hit& hit : hits) {
    const std::vector<std::string>& lines = of_type(lines_.framing, hit.chunk.type);
    size_t at = fnv1a(hit.chunk.slug) % lines.size();
    if (!out.empty() && out.back() == lines[at]) at = (at + 1) % lines.size();
    out.emplace_back(lines[at]);
  }
  return out;
}

}  // namespace stoka::generate
