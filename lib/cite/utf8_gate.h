// Makes a byte stream valid UTF-8, whatever the splits: an incomplete sequence at the end of a push
// waits for its rest, invalid bytes become U+FFFD (one per maximal subpart, as the Unicode standard
// recommends). Not thread safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace stoka::cite {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// How the bytes begin.
struct Utf8Step {
  enum Kind { valid, incomplete, invalid } kind = valid;
  size_t length = 0;  // of the valid run, the unfinished sequence, or the maximal invalid subpart
};
// bytes must not be empty. A valid run is as long as it can be.
Utf8Step utf8_step(std::string_view bytes);

class Utf8Gate {
 public:
  // emit(std::string_view) gets views of `bytes` or of the gate, good until it returns.
  template <class Emit>
  void push(std::string_view bytes, const Emit& emit) {
    while (held_ > 0 && !bytes.empty()) {
      hold_[held_++] = bytes.front();
      const Utf8Step step = utf8_step({hold_, held_});
      if (step.kind == Utf8Step::incomplete) {
        bytes.remove_prefix(1);
      } else if (step.kind == Utf8Step::valid) {
        bytes.remove_prefix(1);
        held_ = 0;
        emit(std::string_view(hold_, step.length));
      } else {  // the new byte does not continue what is held: it is looked at again, alone
        held_ = 0;
        emit(kReplacement);
      }
    }
    while (!bytes.empty()) {
      const Utf8Step step = utf8_step(bytes);
      if (step.kind == Utf8Step::incomplete) {
        held_ = step.length;
        bytes.copy(hold_, held_);
        return;
      }
      emit(step.kind == Utf8Step::valid ? bytes.substr(0, step.length) : kReplacement);
      bytes.remove_prefix(step.length);
    }
  }

  // Nothing follows what was pushed: an unfinished sequence is an invalid one.
  template <class Emit>
  void finish(const Emit& emit) {
    if (held_ == 0) return;
    held_ = 0;
    emit(kReplacement);
  }

 private:
  char hold_[4] = {};
  size_t held_ = 0;
};

}  // namespace stoka::cite
