// Drops greetings, apologies and flattery from the start of an answer, one after another, and lets
// everything else pass as soon as it cannot be one of them. Part of VoiceGuard.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::cite {

// Not thread safe.
class OpenerFilter {
 public:
  // A phrase, in any case and with either apostrophe, drops
  //   "great question"    itself with the sign after it: "Great question, …", "Great question."
  //   "sorry for *"       the whole sentence that begins so
  //   "stoka:"            itself before a colon only
  // and then a "but". `out` gets what passes; it must outlive the filter.
  OpenerFilter(std::span<const std::string> phrases, std::string& out);

  // White space must come as single spaces or line breaks.
  void write(char32_t c);
  // The beginning of the answer is over: what waits is decided.
  void end();

  size_t dropped() const { return dropped_; }

 private:
  struct Phrase {
    std::string words;
    bool sentence = false;
    bool label = false;
  };
  enum class State { deciding, dropping, over };

  void skip(char32_t c);
  void judge();
  void judge_words(const std::string& words);
  void judge_sign(const std::string& words, char32_t sign, bool apart, size_t end);
  void restart(size_t from);
  void pass();

  std::vector<Phrase> phrases_;
  std::string& out_;
  State state_ = State::deciding;
  std::string held_;
  bool stopped_ = false;  // while dropping: the sentence ends here if white space follows
  bool visible_ = false;  // something visible has passed
  size_t dropped_ = 0;
};

}  // namespace stoka::cite
