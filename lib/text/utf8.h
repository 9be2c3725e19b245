// Decoding, encoding and repair of UTF-8. Input is converted where it enters the program; after
// that, all text is valid UTF-8 without NUL. Pure, thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoka::text {

bool is_valid_utf8(std::string_view bytes);

// What a text begins with: valid, incomplete or invalid bytes.
struct Utf8Prefix {
  enum Kind { valid, incomplete, invalid } kind = valid;
  size_t length = 0;  // length of the valid run, incomplete sequence or maximal invalid subpart
};
// Classifies the start of `bytes`, which must not be empty. A valid run is as long as possible.
Utf8Prefix utf8_prefix(std::string_view bytes);

// Returns the code point at `at`, which must be less than text.size(), and advances `at` past it.
// Each maximal subpart of an invalid sequence is returned as U+FFFD, as the Unicode standard
// recommends.
char32_t next_code_point(std::string_view text, size_t& at);

// The number of bytes in a sequence with this lead byte; 1 if no sequence begins with the byte.
inline size_t utf8_sequence_length(unsigned char lead) {
  if (lead < 0xC2 || lead > 0xF4) return 1;
  return lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
}

void append_utf8(std::string& out, char32_t code_point);

// The offset of the last code point boundary at or before `at`.
size_t floor_char_boundary(std::string_view text, size_t at);

// Counts of what repair_utf8() changed.
struct Utf8Repair {
  size_t invalid = 0;  // how many invalid sequences were replaced by U+FFFD
  size_t nul = 0;      // how many NUL bytes were removed
};

// Whether the bytes begin with a byte order mark of UTF-16.
bool has_utf16_mark(std::string_view bytes);

// Returns valid UTF-8 without NUL and byte order mark, and with LF as line end. Bytes that begin
// with a byte order mark of UTF-16 are converted from UTF-16.
std::string repair_utf8(std::string_view bytes, Utf8Repair* report = nullptr);

// Converts text in Windows-1252, of which Latin-1 and ASCII are a part. Returns nothing unless at
// least one byte is invalid in UTF-8, almost no sequence of several bytes is valid UTF-8 (else it
// is damaged UTF-8), fewer than 5 % of the bytes are beyond ASCII, and no byte is NUL or undefined
// in Windows-1252.
std::optional<std::string> windows_1252_to_utf8(std::string_view bytes);

// Makes valid UTF-8 of a byte stream that arrives in pieces of any size. An incomplete sequence at
// the end of a push is held back until the rest arrives; invalid bytes become U+FFFD, one for each
// maximal subpart. Not thread safe.
class Utf8Sanitizer {
 public:
  // Calls emit(std::string_view) with views that are valid until the call returns.
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

  // Ends the stream, so that an incomplete sequence counts as invalid.
  template <class Emit>
  void finish(const Emit& emit) {
    if (held_size_ == 0) return;
    held_size_ = 0;
    emit(kReplacement);
  }

 private:
  static constexpr std::string_view kReplacement = "\uFFFD";

  char held_[4] = {};  // the bytes of an incomplete sequence
  size_t held_size_ = 0;
};

}  // namespace stoka::text
