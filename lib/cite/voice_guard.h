// The voice guard removes from the visible text, while it streams, everything that the NEVER list
// forbids and a program can recognise:
//
// - Openers: greetings, apologies and flattery at the start of the answer; see OpenerFilter.
// - Exclamation marks become full stops, except in code: "!=", "println!(", "#!/", "!flag".
// - Emoji and control, zero-width and bidi characters are removed.
// - List markers at the start of a line are removed and the lines are joined: "two:\n- a\n- b"
//   becomes "two: a, b".
// - White space: runs of spaces become one space, several blank lines become one, and there is none
//   at either end.
//
// Text is held back only while it may become an opener. White space and punctuation are held back
// until the next character. The result does not depend on how the text is split.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/toml.h"
#include "cite/opener_filter.h"
#include "cite/phrase_list.h"

namespace stoka::cite {

struct GuardRules {
  std::vector<std::string> openers;  // phrases in the notation of OpenerFilter
  // For SentenceGate: lists of phrases in the notation of PhraseList, and the names of those lists
  // whose phrases a sentence must not have. The list "common_name" has capitalised words that are
  // not names; the list "filler" has words that may precede a phrase at the start of a sentence.
  Phrases phrases = {};
  std::vector<std::string> forbidden = {};
};

// Reads golden/guard.toml: every list in [openers] and [sentences], and the two in [words]. Another
// key, or a phrase without a word, is a config error that names the line.
Result<GuardRules> read_guard_rules(std::span<const TomlEntry> entries);

// The class is not thread safe.
class VoiceGuard {
 public:
  // A function that receives the text that passes. It is called at most once for each push(),
  // mark_citation() or finish(), and its text is never empty.
  using TextSink = std::function<void(std::string_view)>;

  VoiceGuard(const GuardRules& rules, TextSink sink);
  VoiceGuard(const VoiceGuard&) = delete;
  VoiceGuard& operator=(const VoiceGuard&) = delete;

  void push(std::string_view text);  // `text` must be valid UTF-8 with whole code points
  void mark_citation();  // passes on or drops all text held back, because a citation follows it
  void finish();         // must be called once, after the last text

 private:
  void accept(char32_t c);
  void resolve_exclamation(char32_t next);
  void accept_visible(char32_t c);
  void accept_space(char32_t c);
  bool extends_marker(char32_t c) const;
  bool is_marker_complete() const;
  void resolve_marker();
  void resolve_space();
  void write(char32_t c);
  void flush();

  TextSink sink_;
  std::string ready_;  // text to pass to the sink at the end of the call
  OpenerFilter opener_filter_;

  // The state of each filter, in order: exclamation marks, list markers, white space, openers.
  char32_t previous_ = 0;             // the last character that was accepted
  bool exclamation_pending_ = false;  // a '!' waits for the next character
  bool after_emoji_ = false;          // a joiner after an emoji belongs to the emoji

  bool at_line_start_ = true;
  std::u32string marker_;        // characters that may be a list marker and are held back
  bool marker_dropped_ = false;  // a list marker was dropped since the last visible character
  size_t pending_newlines_ = 0;
  bool space_pending_ = false;

  bool has_output_ = false;      // some text was written or a citation was shown
  bool after_citation_ = false;  // no text was written since the last citation
  char32_t last_written_ = 0;
  size_t trailing_newlines_ = 0;  // the number of line feeds at the end of the text written so far
};

}  // namespace stoka::cite
