#include "cite/voice_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "text/characters.h"
#include "text/utf8.h"
#include "text/words.h"

namespace stoka::cite {

namespace {

constexpr size_t kMaxNewlines = 2;
constexpr char32_t kKeycap = 0x20E3;
constexpr char32_t kFullwidthExclamation = 0xFF01;
constexpr char32_t kInvertedExclamation = 0xA1;

bool is_one_of(char32_t c, std::u32string_view set) {
  return c != 0 && set.find(c) != std::u32string_view::npos;
}

bool is_bullet(char32_t c) { return is_one_of(c, U"-*+\u2022\u2023\u25E6\u00B7\u2013\u2014"); }

bool is_newline(char32_t c) { return c == '\n' || c == 0x2028 || c == 0x2029; }

// Whether an exclamation mark between these two characters belongs to code.
bool is_code(char32_t before, char32_t after) {
  if (after == '=') return true;
  if (after == '/') return before == '#';
  if (is_one_of(after, U"([{")) return text::is_word_character(before);
  const bool begins = before == 0 || text::is_space(before) || is_one_of(before, U"(&|`");
  return begins && (text::is_word_character(after) || after == '_');
}

}  // namespace

Result<GuardRules> read_guard_rules(std::span<const TomlEntry> entries) {
  GuardRules out;
  for (const TomlEntry& entry : entries) {
    const auto in = [&](std::string_view table) {
      return entry.key.starts_with(table) ? entry.key.substr(table.size()) : std::string();
    };
    const std::string opener = in("openers."), sentence = in("sentences."), word = in("words.");
    const bool is_word_list = word == "common_name" || word == "filler";
    const bool is_known = !opener.empty() || is_word_list ||
                          (!sentence.empty() && sentence != "common_name" && sentence != "filler");
    if (!is_known || !entry.is_list) {
      return fail(ErrorKind::config,
                  fmt::format("guard.toml line {}: unknown '{}'", entry.line, entry.key),
                  "keep lists of phrases under [openers] and [sentences]");
    }
    for (const std::string& phrase : entry.values) {
      if (text::words(phrase).empty()) {
        return fail(ErrorKind::config,
                    fmt::format("guard.toml line {}: a phrase without a word", entry.line),
                    "remove it");
      }
      if (!opener.empty())
        out.openers.push_back(phrase);
      else
        out.phrases[is_word_list ? word : sentence].push_back(phrase);
    }
    if (!sentence.empty()) out.forbidden.push_back(sentence);
  }
  return out;
}

VoiceGuard::VoiceGuard(const GuardRules& rules, TextSink sink)
    : sink_(std::move(sink)), opener_filter_(rules.openers, ready_) {}

void VoiceGuard::push(std::string_view text) {
  for (size_t at = 0; at < text.size();) accept(text::next_code_point(text, at));
  flush();
}

void VoiceGuard::mark_citation() {
  if (exclamation_pending_) resolve_exclamation(0);
  resolve_marker();
  resolve_space();
  opener_filter_.end();
  at_line_start_ = false;
  has_output_ = true;
  after_citation_ = true;
  flush();
}

void VoiceGuard::finish() {
  if (exclamation_pending_) resolve_exclamation(0);
  resolve_marker();
  opener_filter_.end();
  flush();
}

void VoiceGuard::accept(char32_t c) {
  if (text::is_emoji(c) || c == kKeycap || c == kInvertedExclamation) {
    after_emoji_ = true;
    return;
  }
  // A zero-width joiner is kept only in a word of a script that needs joiners.
  if (text::is_ignorable(c)) {
    const bool joiner = c == 0x200C || c == 0x200D;
    const bool joins_letters = joiner && !after_emoji_ && !is_ascii(previous_);
    if (!joins_letters || !text::is_word_character(previous_)) return;
  }
  if (text::is_control(c) && !text::is_space(c)) return;
  after_emoji_ = false;
  const bool is_exclamation = c == '!' || c == kFullwidthExclamation;
  if (exclamation_pending_) {
    if (is_exclamation) return;
    resolve_exclamation(c);
  }
  if (is_exclamation) {  // the next character decides what the mark becomes
    exclamation_pending_ = true;
    return;
  }
  previous_ = c;
  if (text::is_space(c)) {
    accept_space(c);
  } else {
    accept_visible(c);
  }
}

// An exclamation mark stays in code, and becomes a full stop unless the sentence has ended already.
void VoiceGuard::resolve_exclamation(char32_t next) {
  exclamation_pending_ = false;
  if (is_code(previous_, next)) {
    accept_visible('!');
    return;
  }
  const bool has_ended = previous_ == 0 || text::is_space(previous_) ||
                         is_one_of(previous_, U".?,;:\u2026\u3002") || next == '?';
  if (!has_ended) accept_visible('.');
}

void VoiceGuard::accept_space(char32_t c) {
  resolve_marker();
  if (is_newline(c)) {
    ++pending_newlines_;
    at_line_start_ = true;
  } else {
    space_pending_ = true;
  }
}

void VoiceGuard::accept_visible(char32_t c) {
  if (at_line_start_) {
    if (extends_marker(c)) {
      marker_ += c;
      return;
    }
    at_line_start_ = false;
    for (const char32_t held : std::exchange(marker_, {})) accept_visible(held);
  }
  resolve_space();
  write(c);
  has_output_ = true;
  after_citation_ = false;
}

// Whether the held characters and `c` may be a list marker: a bullet, "1.", "12)" or "(1)".
bool VoiceGuard::extends_marker(char32_t c) const {
  const bool bracket = marker_.starts_with('(');
  const size_t digits =
      static_cast<size_t>(std::count_if(marker_.begin(), marker_.end(), is_ascii_digit));
  if (marker_.empty()) return is_bullet(c) || is_ascii_digit(c) || c == '(';
  if (is_marker_complete()) return false;
  if (is_ascii_digit(c)) return digits < 2;
  return digits > 0 && (c == ')' || (c == '.' && !bracket));
}

bool VoiceGuard::is_marker_complete() const {
  if (marker_.empty()) return false;
  return is_bullet(marker_.back()) || marker_.back() == '.' || marker_.back() == ')';
}

// Drops the held list marker if it is complete, and otherwise writes it as text. Called when the
// next character cannot extend the marker.
void VoiceGuard::resolve_marker() {
  if (marker_.empty()) return;
  if (is_marker_complete()) {
    marker_.clear();
    marker_dropped_ = true;
    return;
  }
  at_line_start_ = false;
  for (const char32_t held : std::exchange(marker_, {})) accept_visible(held);
}

// Writes the pending white space before a visible character. A dropped list marker becomes a comma
// and a space, or only a space after punctuation.
void VoiceGuard::resolve_space() {
  const size_t newlines = std::min(std::exchange(pending_newlines_, 0), kMaxNewlines);
  const bool space = std::exchange(space_pending_, false);
  const bool joins_lines = std::exchange(marker_dropped_, false);
  if (!has_output_) return;
  const bool after_space = text::is_space(last_written_);
  if (joins_lines) {
    if (!after_citation_ && text::is_word_character(last_written_)) write(',');
    if (!after_space) write(' ');
  } else if (newlines > 0) {
    while (trailing_newlines_ < newlines) write('\n');
  } else if (space && !after_space) {
    write(' ');
  }
}

void VoiceGuard::write(char32_t c) {
  trailing_newlines_ = c == '\n' ? trailing_newlines_ + 1 : 0;
  last_written_ = c;
  opener_filter_.write(c);
}

void VoiceGuard::flush() {
  if (ready_.empty()) return;
  sink_(ready_);
  ready_.clear();
}

}  // namespace stoka::cite
