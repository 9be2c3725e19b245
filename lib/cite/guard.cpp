#include "cite/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

bool is_bullet(char32_t c) { return is_one_of(c, U"-*+\u2022\u2023\u25E6\u00B7\u2013\u2014"); }

bool is_newline(char32_t c) { return c == '\n' || c == 0x2028 || c == 0x2029; }

// Whether an exclamation mark between these two is a sign of code.
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
    if (!entry.key.starts_with("openers.") || !entry.is_list) {
      return fail(ErrorKind::config,
                  fmt::format("guard.toml line {}: unknown '{}'", entry.line, entry.key),
                  "keep lists of phrases under [openers]");
    }
    for (const std::string& phrase : entry.values) {
      if (text::words(phrase).empty()) {
        return fail(ErrorKind::config,
                    fmt::format("guard.toml line {}: a phrase without a word", entry.line),
                    "remove it");
      }
      out.openers.push_back(phrase);
    }
  }
  return out;
}

VoiceGuard::VoiceGuard(const GuardRules& rules, Out out)
    : out_(std::move(out)), opener_(rules.openers, ready_) {}

void VoiceGuard::push(std::string_view text) {
  for (size_t at = 0; at < text.size();) accept(text::next_code_point(text, at));
  flush();
}

void VoiceGuard::mark() {
  if (exclamation_) settle_exclamation(0);
  settle_marker();
  settle_space();
  opener_.end();
  line_start_ = false;
  started_ = true;
  marked_ = true;
  flush();
}

void VoiceGuard::finish() {
  if (exclamation_) settle_exclamation(0);
  settle_marker();
  opener_.end();
  flush();
}

void VoiceGuard::accept(char32_t c) {
  if (text::is_emoji(c) || c == kKeycap || c == kInvertedExclamation) {
    after_emoji_ = true;
    return;
  }
  if (text::is_ignorable(c)) {
    const bool joiner = c == 0x200C || c == 0x200D;
    const bool joins = joiner && !after_emoji_ && previous_ >= 0x80;
    if (!joins || !text::is_word_character(previous_)) return;
  }
  if (text::is_control(c) && !text::is_space(c)) return;
  after_emoji_ = false;
  const bool exclaims = c == '!' || c == kFullwidthExclamation;
  if (exclamation_) {
    if (exclaims) return;
    settle_exclamation(c);
  }
  if (exclaims) {
    exclamation_ = true;
    return;
  }
  previous_ = c;
  if (text::is_space(c)) {
    place_space(c);
  } else {
    place(c);
  }
}

void VoiceGuard::settle_exclamation(char32_t next) {
  exclamation_ = false;
  if (is_code(previous_, next)) {
    place('!');
    return;
  }
  const bool ended = previous_ == 0 || text::is_space(previous_) ||
                     is_one_of(previous_, U".?,;:\u2026\u3002") || next == '?';
  if (!ended) place('.');
}

void VoiceGuard::place_space(char32_t c) {
  settle_marker();
  if (is_newline(c)) {
    ++newlines_;
    line_start_ = true;
  } else {
    space_ = true;
  }
}

void VoiceGuard::place(char32_t c) {
  if (line_start_) {
    if (extends_marker(c)) {
      marker_ += c;
      return;
    }
    line_start_ = false;
    for (const char32_t held : std::exchange(marker_, {})) place(held);
  }
  settle_space();
  write(c);
  started_ = true;
  marked_ = false;
}

bool VoiceGuard::extends_marker(char32_t c) const {
  const bool bracket = marker_.starts_with('(');
  const size_t digits =
      static_cast<size_t>(std::count_if(marker_.begin(), marker_.end(), is_digit));
  if (marker_.empty()) return is_bullet(c) || is_digit(c) || c == '(';
  if (marker_is_complete()) return false;
  if (is_digit(c)) return digits < 2;
  return digits > 0 && (c == ')' || (c == '.' && !bracket));
}

bool VoiceGuard::marker_is_complete() const {
  if (marker_.empty()) return false;
  return is_bullet(marker_.back()) || marker_.back() == '.' || marker_.back() == ')';
}

// Nothing more comes that could extend the marker.
void VoiceGuard::settle_marker() {
  if (marker_.empty()) return;
  if (marker_is_complete()) {
    marker_.clear();
    listed_ = true;
    return;
  }
  line_start_ = false;
  for (const char32_t held : std::exchange(marker_, {})) place(held);
}

void VoiceGuard::settle_space() {
  const size_t newlines = std::min(std::exchange(newlines_, 0), kMaxNewlines);
  const bool space = std::exchange(space_, false);
  const bool listed = std::exchange(listed_, false);
  if (!started_) return;
  const bool apart = text::is_space(last_);
  if (listed) {
    if (!marked_ && text::is_word_character(last_)) write(',');
    if (!apart) write(' ');
  } else if (newlines > 0) {
    while (last_newlines_ < newlines) write('\n');
  } else if (space && !apart) {
    write(' ');
  }
}

void VoiceGuard::write(char32_t c) {
  last_newlines_ = c == '\n' ? last_newlines_ + 1 : 0;
  last_ = c;
  opener_.write(c);
}

void VoiceGuard::flush() {
  if (ready_.empty()) return;
  out_(ready_);
  ready_.clear();
}

}  // namespace stoka::cite
