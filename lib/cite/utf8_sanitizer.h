// Makes valid UTF-8 of a byte stream in any split. An incomplete sequence at the end of a push is
// held back until the rest arrives; invalid bytes become U+FFFD, one for each maximal subpart, as
// the Unicode standard recommends. Not thread safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace stoka::cite {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Classifies the beginning of some bytes.
struct Utf8Prefix {
  enum Kind { valid, incomplete, invalid } kind = valid;
  size_t length = 0;  // of the valid run, the incomplete sequence or the maximal invalid subpart
};
// `bytes` must not be empty. A valid run is as long as possible.
Utf8Prefix utf8_prefix(std::string_view bytes);

class Utf8Sanitizer {
 public:
  // Calls emit(std::string_view) with views that are valid until it returns.
  template <class Emit>
  void push(std::string_view bytes, const Emit& emit) {
    while (held_size_ > 0 && !bytes.empty()) {
      held_[held_size_++] = bytes.front();
      const Utf8Prefix prefix = utf8_prefix({held_, held_size_});
      if (prefix.kind == Utf8Prefix::incomplete) {
        bytes.remove_prefix(1);
      } else if (prefix.kind == Utf8Prefix::valid) {
        bytes.remove_prefix(1);
        held_size_ = 0;
        emit(std::string_view(held_, prefix.length));
      } else {  // the new byte does not continue the sequence, so it is classified again by itself
        held_size_ = 0;
        emit(kReplacement);
      }
    }
    while (!bytes.empty()) {
      const Utf8Prefix prefix = utf8_prefix(bytes);
      if (prefix.kind == Utf8Prefix::incomplete) {
        held_size_ = prefix.length;
        bytes.copy(held_, held_size_);
        return;
      }
      emit(prefix.kind == Utf8Prefix::valid ? bytes.substr(0, prefix.length) : kReplacement);
      bytes.remove_prefix(prefix.length);
    }
  }

  // The stream has ended, so an incomplete sequence is invalid.
  template <class Emit>
  void finish(const Emit& emit) {
    if (held_size_ == 0) return;
    held_size_ = 0;
    emit(kReplacement);
  }

 private:
  char held_[4] = {};  // an incomplete sequence
  size_t held_size_ = 0;
};

}  // namespace stoka::cite
