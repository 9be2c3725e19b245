// The voice guard: what the NEVER list forbids mechanically is taken out of the visible text while
// it streams.
//
// - Openers: greeting, apology and flattery at the start of the answer. Word match; see
// OpenerFilter.
// - Exclamation marks become full stops; "!=" and other code ("println!(", "#!/", "!flag") stays.
// - Emoji, control, zero-width and bidi characters go.
// - List markers at the start of a line go and the lines are joined: "two:\n- a\n- b" is "two: a,
// b".
// - White space: runs of spaces become one, more than one blank line becomes one, none at either
// end.
//
// Only a beginning that may still become an opener waits, and white space and signs for what
// follows them. The outcome does not depend on the splits of the text.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/toml.h"
#include "cite/opener.h"

namespace stoka::cite {

struct GuardRules {
  std::vector<std::string> openers;  // phrases as OpenerFilter reads them
};

// From golden/guard.toml: every list of [openers]. Another key, or a phrase without a word, is a
// config error with its line.
Result<GuardRules> read_guard_rules(std::span<const TomlEntry> entries);

// Not thread safe.
class VoiceGuard {
 public:
  // Called with text that is never empty, at most once per call of push(), mark() and finish().
  using Out = std::function<void(std::string_view)>;

  VoiceGuard(const GuardRules& rules, Out out);
  VoiceGuard(const VoiceGuard&) = delete;
  VoiceGuard& operator=(const VoiceGuard&) = delete;

  void push(std::string_view text);  // valid UTF-8, whole code points
  void mark();    // a citation is shown here: all that waits is decided and passed on
  void finish();  // once, after the last text

  size_t openers_dropped() const { return opener_.dropped(); }

 private:
  void accept(char32_t c);
  void settle_exclamation(char32_t next);
  void place(char32_t c);
  void place_space(char32_t c);
  bool extends_marker(char32_t c) const;
  bool marker_is_complete() const;
  void settle_marker();
  void settle_space();
  void write(char32_t c);
  void flush();

  Out out_;
  std::string ready_;  // passed on at the end of the call
  OpenerFilter opener_;

  char32_t previous_ = 0;     // last one accepted
  bool exclamation_ = false;  // one waits for what follows it
  bool after_emoji_ = false;

  bool line_start_ = true;
  std::u32string marker_;  // what may be a list marker
  bool listed_ = false;    // a marker was dropped since the last visible character
  size_t newlines_ = 0;    // waiting
  bool space_ = false;     // waiting

  bool started_ = false;      // something was written or shown
  bool marked_ = false;       // nothing was written since a citation
  char32_t last_ = 0;         // written
  size_t last_newlines_ = 0;  // written, at the end
};

}  // namespace stoka::cite
