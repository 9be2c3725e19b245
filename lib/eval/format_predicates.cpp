#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "eval/predicates.h"
#include "text/characters.h"
#include "text/utf8.h"

namespace stoka::eval::predicate {
namespace {

constexpr char32_t kEmojiVariationSelector = 0xFE0F;
constexpr char32_t kKeycap = 0x20E3;

std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) out += text::next_code_point(text, at);
  return out;
}

bool is_one_of(char32_t c, std::u32string_view set) { return set.find(c) != set.npos; }

// The length of the word that ends directly before `i`.
size_t word_length_before(std::u32string_view text, size_t i) {
  size_t n = 0;
  while (n < i && text::is_word_character(text[i - n - 1])) ++n;
  return n;
}

// Whether the '!' at `i` belongs to code that is not marked as code: "!=", "println!(",
// "#!/bin/sh", "!important", "<!--", ":q!", "n! = ".
bool is_operator(std::u32string_view text, size_t i) {
  const char32_t before = i > 0 ? text[i - 1] : 0;
  const char32_t next = i + 1 < text.size() ? text[i + 1] : 0;
  if (next == '=' || before == '<') return true;
  if (before == '#' && next == '/') return true;
  if (is_one_of(next, U"([{") && text::is_word_character(before)) return true;
  const bool begins = before == 0 || text::is_space(before) || is_one_of(before, U"(&|!");
  if (begins && is_ascii(next) && (text::is_word_character(next) || next == '_' || next == '[')) {
    return true;
  }
  if (before == '!' || next == '!') return false;
  const size_t word = word_length_before(text, i);
  if (word > 0 && word <= 2 && i > word && text[i - word - 1] == ':') return true;
  const bool factorial = word == 1 || (word > 0 && is_ascii_digit(text[i - word]));
  return factorial && text::is_space(next) && i + 2 < text.size() &&
         is_one_of(text[i + 2], U"=+*/");
}

// Whether the character is drawn as an emoji without a variation selector. The other symbols of
// these blocks are text: "⌘K", "✓", "→".
bool is_emoji_character(char32_t c) {
  if (c >= 0x1F000 && c <= 0x1FAFF) return c < 0x1F100 || c > 0x1F1E5;
  constexpr auto kRanges = std::to_array<std::pair<char32_t, char32_t>>(
      {{0x203C, 0x203C}, {0x2049, 0x2049}, {0x231A, 0x231B}, {0x23E9, 0x23EC}, {0x23F0, 0x23F0},
       {0x23F3, 0x23F3}, {0x25FD, 0x25FE}, {0x2600, 0x2604}, {0x2614, 0x2615}, {0x261D, 0x261D},
       {0x2620, 0x2620}, {0x2639, 0x263B}, {0x2648, 0x2653}, {0x2665, 0x2665}, {0x267F, 0x267F},
       {0x2693, 0x2693}, {0x26A0, 0x26A1}, {0x26AA, 0x26AB}, {0x26BD, 0x26BE}, {0x26C4, 0x26C5},
       {0x26CE, 0x26CE}, {0x26D4, 0x26D4}, {0x26EA, 0x26EA}, {0x26F2, 0x26F3}, {0x26F5, 0x26F5},
       {0x26FA, 0x26FA}, {0x26FD, 0x26FD}, {0x2705, 0x2705}, {0x2708, 0x2708}, {0x270A, 0x270D},
       {0x2728, 0x2728}, {0x274C, 0x274C}, {0x274E, 0x274E}, {0x2753, 0x2755}, {0x2757, 0x2757},
       {0x2763, 0x2764}, {0x2795, 0x2797}, {0x27B0, 0x27B0}, {0x27BF, 0x27BF}, {0x2B1B, 0x2B1C},
       {0x2B50, 0x2B50}, {0x2B55, 0x2B55}});
  return std::any_of(kRanges.begin(), kRanges.end(),
                     [&](const auto& range) { return c >= range.first && c <= range.second; });
}

bool is_shortcode(std::string_view word) {
  if (word.size() < 4 || word.front() != ':' || word.back() != ':') return false;
  word = word.substr(1, word.size() - 2);
  return std::any_of(word.begin(), word.end(), is_ascii_lower) &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return is_ascii_lower(c) || is_ascii_digit(c) || c == '_' || c == '+';
         });
}

// The text of the answer with the placeholder in place of each citation and of code.
std::string text_with_placeholders(const Answer& answer) {
  std::string out;
  for (const Answer::Part& part : answer.parts) {
    out += part.citation ? kPlaceholder : std::string_view(part.text);
  }
  return without_code(out);
}

// The number of a list item, or 0 for a bullet; nullopt if the line is not a list item.
std::optional<int> item_number(std::string_view line) {
  line = trimmed(line);
  size_t at = 0;
  if (line.empty()) return std::nullopt;
  const char32_t c = text::next_code_point(line, at);
  constexpr std::u32string_view kBullets =
      U"-*+"
      U"\u2022\u2023\u25E6\u00B7\u2013\u2014\u25AA\u25CF\u2219\u2192\u25B8\u25B9\u2610\u2611\u2713";
  const auto ends = [&] {
    size_t next = at;
    if (at == line.size() || text::is_space(text::next_code_point(line, next))) return true;
    return line.substr(at).starts_with(kPlaceholder);
  };
  if (is_one_of(c, kBullets)) return ends() ? std::optional<int>(0) : std::nullopt;
  if (c >= 0x2460 && c <= 0x2473) return static_cast<int>(c - 0x245F);
  const bool bracket = c == '(';
  if (!bracket) at = 0;
  const size_t from = at;
  while (at < line.size() && is_ascii_digit(line[at]) && at - from < 2) ++at;
  const std::string_view digits = line.substr(from, at - from);
  const bool letter = digits.empty() && at < line.size() && line[at] >= 'a' && line[at] <= 'h';
  if (letter) ++at;
  if (at == from || at >= line.size()) return std::nullopt;
  const bool closed = line[at] == ')' || (line[at] == '.' && !bracket && !letter);
  if (!closed) return std::nullopt;
  ++at;
  if (!ends()) return std::nullopt;
  return letter ? std::optional<int>(line[from] - 'a' + 1) : parse_number<int>(digits);
}

// Whether several list items are in one line: "1) … 2) …", "1. … 2. … 3. …", "• … • …".
bool is_inline_list(std::string_view text) {
  int bracketed = 0, dotted = 0, bullets = 0, cited = 0;
  bool numbered = false;  // the previous word is the number of the next list item
  for (auto word = take_field(text); !word.empty(); word = take_field(text)) {
    cited += numbered && word.starts_with(kPlaceholder);
    numbered = word == fmt::format("{}.", dotted + 1);
    if (word == fmt::format("{})", bracketed + 1) || word == fmt::format("({})", bracketed + 1)) {
      ++bracketed;
    } else if (numbered) {
      ++dotted;
    } else if (word == "\u2022" || word == "\u2023" || word == "\u25E6" || word == "\u25AA") {
      ++bullets;
    }
  }
  return bracketed >= 2 || dotted >= 3 || cited >= 2 || bullets >= 2;
}

}  // namespace

Reason exclamation(const Answer& answer, const Phrases&) {
  const std::u32string text = code_points(without_code(answer.text()));
  for (size_t i = 0; i < text.size(); ++i) {
    constexpr std::u32string_view kOtherMarks =
        U"\u00A1\uFF01\u203C\u2049\u2048\u2757\u2755\uFE57\uFE15\u203D\u2762\u2763";
    if (!is_one_of(text[i], kOtherMarks) && (text[i] != '!' || is_operator(text, i))) continue;
    std::string around;
    for (size_t n = i - std::min<size_t>(i, 12); n <= i; ++n) text::append_utf8(around, text[n]);
    return fmt::format("exclaims: '{}'", trimmed(around));
  }
  return std::nullopt;
}

Reason emoji(const Answer& answer, const Phrases& phrases) {
  const std::string text = answer.text();
  char32_t before = 0;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = text::next_code_point(text, at);
    const bool styled = c == kKeycap || (c == kEmojiVariationSelector && before > 0x7F);
    if (styled || is_emoji_character(c)) {
      std::string sign;
      text::append_utf8(sign, c == kEmojiVariationSelector ? before : c);
      return fmt::format("shows {}", sign);
    }
    before = c;
  }
  const auto emoticons = phrases.find("emoticon");
  const std::string prose = without_code(text);
  std::string_view rest = prose;
  for (auto word = take_field(rest); !word.empty(); word = take_field(rest)) {
    const std::string_view bare = word.substr(0, word.find_last_not_of(".,;") + 1);
    const bool known = emoticons != phrases.end() &&
                       std::find(emoticons->second.begin(), emoticons->second.end(), bare) !=
                           emoticons->second.end();
    if (known || is_shortcode(bare)) return fmt::format("shows {}", bare);
  }
  return std::nullopt;
}

Reason list(const Answer& answer, const Phrases&) {
  const std::string text = text_with_placeholders(answer);
  size_t bullets = 0, numbers = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (line.find("<li") != std::string_view::npos) return "lists: <li>";
    if (const auto item = item_number(line)) ++(*item == 0 ? bullets : numbers);
  }
  if (bullets >= 2) return fmt::format("lists {} items with bullets", bullets);
  if (numbers >= 2) return fmt::format("lists {} numbered items", numbers);
  if (is_inline_list(text)) return "lists items in one line";
  return std::nullopt;
}

}  // namespace stoka::eval::predicate
