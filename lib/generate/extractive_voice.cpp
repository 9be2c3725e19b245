#include "generate/extractive_voice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
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

// Returns the next number of splitmix64, a random generator that is equal on every platform.
uint64_t next_random(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The numbers from `from` to `to` - 1 in an order that the seed decides.
std::vector<size_t> shuffled(size_t from, size_t to, uint64_t seed) {
  std::vector<size_t> out;
  for (size_t i = from; i < to; ++i) out.push_back(i);
  for (size_t left = out.size(); left > 1; --left)
    std::swap(out[left - 1], out[next_random(seed) % left]);
  return out;
}

// The index of the line for a turn, out of `count` lines.
size_t line_index(size_t count, const GenerationRequest& request) {
  const size_t turn = static_cast<size_t>(std::max(request.turns, 0));
  if (count <= 2) return turn % count;
  const size_t first = std::max<size_t>(count / 8, 1);
  if (turn == 0) return fnv1a(request.query) % first;
  const uint64_t seed = fnv1a(request.session_id);
  size_t at = turn - 1;
  std::vector<size_t> order = shuffled(first, count, seed);
  for (uint64_t round = 1; at >= order.size(); ++round) {
    at -= order.size();
    const size_t last = order.back();
    order = shuffled(0, count, seed + round);
    // The swap leaves the last line in its place, because there are at least three lines.
    if (order.front() == last) std::swap(order[0], order[1]);
  }
  return order[at];
}

const VoiceLines::List& of_type(const VoiceLines::ByType& lines, std::string_view type) {
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

VoiceLines::List* find_list(VoiceLines& lines, std::string_view group, std::string_view type) {
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

bool is_conditional(const VoiceLine& line) { return !line.condition.empty(); }

// Moves the lines with a condition to the end. Returns false if every line has a condition.
bool order_list(VoiceLines::List& list) {
  std::stable_partition(list.begin(), list.end(), std::not_fn(is_conditional));
  return !list.empty() && !is_conditional(list.front());
}

}  // namespace

const std::string& choose_line(const VoiceLines::List& lines, const GenerationRequest& request) {
  std::vector<const VoiceLine*> usable;
  for (const VoiceLine& line : lines)
    if (request.site.meets(line.condition)) usable.push_back(&line);
  return usable[line_index(usable.size(), request)]->text;
}

Result<VoiceLines> read_voice_lines(std::span<const TomlEntry> entries) {
  VoiceLines out;
  for (const TomlEntry& entry : entries) {
    constexpr std::string_view kNeeds = "needs.";
    std::string_view key = entry.key, condition;
    if (key.starts_with(kNeeds)) {
      key.remove_prefix(kNeeds.size());
      condition = key.substr(0, key.find('.'));
      key.remove_prefix(std::min(condition.size() + 1, key.size()));
      if (std::find(golden::kConditions.begin(), golden::kConditions.end(), condition) ==
          golden::kConditions.end())
        return invalid_lines(fmt::format("line {}: unknown condition '{}'", entry.line, condition));
    }
    const size_t dot = std::min(key.find('.'), key.size());
    const std::string_view group = key.substr(0, dot);
    VoiceLines::List* list = find_list(out, group, key.substr(std::min(dot + 1, key.size())));
    if (list == nullptr || (group == "framing" && !condition.empty()))
      return invalid_lines(fmt::format("line {}: unknown '{}'", entry.line, entry.key));
    for (const std::string& line : entry.values) {
      if (const std::string_view wrong = line_fault(line, group); !wrong.empty()) {
        return invalid_lines(fmt::format("line {}: '{}' {}", entry.line, line, wrong));
      }
      list->push_back({line, std::string(condition)});
    }
    if (entry.values.empty())
      return invalid_lines(fmt::format("line {}: '{}' is empty", entry.line, entry.key));
  }
  for (auto* by_type : {&out.direct, &out.framing})
    for (auto at = by_type->begin(); at != by_type->end();)
      at = order_list(at->second) ? std::next(at) : by_type->erase(at);
  for (const auto& [name, missing] : {std::pair{"direct.any", !out.direct.contains(kAnyType)},
                                      std::pair{"framing.any", !out.framing.contains(kAnyType)},
                                      std::pair{"adjacent", !order_list(out.adjacent)},
                                      std::pair{"followup", !order_list(out.followup)},
                                      std::pair{"lateral", !order_list(out.lateral)},
                                      std::pair{"closers", !order_list(out.closers)}}) {
    if (missing) return invalid_lines(fmt::format("has no '{}'", name));
  }
  return out;
}

const std::string& ExtractiveVoice::opener(const GenerationRequest& request, const Hit& hit) const {
  if (request.confidence != Confidence::direct) return choose_line(lines_.adjacent, request);
  if (request.same_topic) return choose_line(lines_.followup, request);
  return choose_line(of_type(lines_.direct, hit.chunk.type), request);
}

std::string ExtractiveVoice::answer(const GenerationRequest& request) const {
  const Hit* first = nullptr;
  std::string out;
  const auto open_with = [&](const Hit& hit, std::string_view quote) {
    first = &hit;
    const std::string_view line = !request.opening.empty() ? std::string_view(request.opening)
                                  : request.low_confidence ? std::string_view(lines_.closest)
                                                           : std::string_view(opener(request, hit));
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
      out += fmt::format("\n{}\n{}", choose_line(lines_.lateral, request), tag(hit, quote));
      break;
    }
    open_with(hit, quote);
  }
  // A page that consists of code only is cited without a quote.
  if (first == nullptr && !request.hits.empty()) open_with(request.hits.front(), "");
  if (first == nullptr) return std::string(kNothingFound);
  // After a low-confidence answer, a question would suggest that the answer was right.
  if (!request.low_confidence) out += "\n" + choose_line(lines_.closers, request);
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
    const VoiceLines::List& lines = of_type(lines_.framing, hit.chunk.type);
    const auto is_used = [&](size_t at) {
      return std::find(out.begin(), out.end(), lines[at].text) != out.end();
    };
    size_t at = fnv1a(hit.chunk.slug) % lines.size();
    for (size_t tries = 0; tries < lines.size() && is_used(at); ++tries)
      at = (at + 1) % lines.size();
    if (!out.empty() && out.back() == lines[at].text) at = (at + 1) % lines.size();
    out.emplace_back(lines[at].text);
  }
  return out;
}

}  // namespace stoka::generate
