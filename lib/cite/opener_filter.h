// Drops openers: stock phrases (greetings, apologies, flattery) at the start of an answer. Several
// openers in a row are all dropped; text passes as soon as it cannot be an opener.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::cite {

// The class is not thread safe.
class OpenerFilter {
 public:
  // A phrase is matched by whole words, in any case and with either apostrophe. Its form says what
  // is dropped:
  //   "great question"    the phrase and the punctuation after it: "Great question, …"
  //   "sorry for *"       the whole sentence that begins with the phrase
  //   "stoka:"            the phrase only before a colon
  // A "but" after a dropped opener is dropped too. `out` receives the text that passes; it must
  // outlive the filter.
  OpenerFilter(std::span<const std::string> phrases, std::string& out);

  // Accepts a character of the answer. White space must be a single space or a line break.
  void write(char32_t c);
  // Ends the start of the answer, after which nothing is an opener. The text that is held back
  // passes or is dropped.
  void end();

 private:
  struct Phrase {
    std::string words;
    bool whole_sentence = false;
    bool before_colon = false;
  };
  enum class State {
    deciding,  // the text held back may become an opener
    dropping,  // inside a sentence that is dropped
    passing,   // the start of the answer is over
  };

  void skip(char32_t c);
  void judge();
  void judge_words(const std::string& words);
  void judge_punctuation(const std::string& words, char32_t punctuation, bool after_space,
                         size_t end);
  void restart(size_t from);
  void pass();

  std::vector<Phrase> phrases_;
  std::string& out_;
  State state_ = State::deciding;
  std::string held_;
  bool after_stop_ = false;   // white space now ends the sentence that is being dropped
  bool has_visible_ = false;  // whether a visible character has passed
  bool has_dropped_ = false;  // whether an opener was dropped
};

}  // namespace stoka::cite
