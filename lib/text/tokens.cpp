#include "text/tokens.h"

#include <array>

#include "text/characters.h"
#include "text/utf8.h"

namespace stoka::text {
namespace {

// Byte-pair vocabularies hold most English words up to this length whole.
constexpr size_t kLettersPerToken = 7;
constexpr size_t kDigitsPerToken = 3;
constexpr size_t kSignsPerToken = 3;

enum class Kind { none, letters, digits, signs, breaks };

// What most text is made of, without a call a letter.
constexpr std::array<Kind, 128> kAscii = [] {
  std::array<Kind, 128> out{};
  for (size_t c = 0; c < out.size(); ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    out[c] = c == ' '                 ? Kind::none
             : letter                 ? Kind::letters
             : c >= '0' && c <= '9'   ? Kind::digits
             : c >= '\t' && c <= '\r' ? Kind::breaks
                                      : Kind::signs;
  }
  return out;
}();

struct Estimator {
  Kind kind = Kind::none;
  size_t run = 0;  // weight of the current run
  size_t total = 0;

  void close() {
    if (run == 0) return;
    switch (kind) {
      case Kind::letters:
        total += 1 + (run - 1) / kLettersPerToken;
        break;
      case Kind::digits:
        total += (run + kDigitsPerToken - 1) / kDigitsPerToken;
        break;
      case Kind::signs:
        total += (run + kSignsPerToken - 1) / kSignsPerToken;
        break;
      case Kind::breaks:
        ++total;
        break;
      case Kind::none:
        break;
    }
    run = 0;
  }
  void add(Kind next, size_t weight) {
    if (next != kind) close();
    kind = next;
    run += weight;
  }
};

}  // namespace

size_t estimate_tokens(std::string_view text) {
  Estimator out;
  for (size_t at = 0; at < text.size();) {
    auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      ++at;
      out.add(kAscii[byte], byte == ' ' ? 0 : 1);
      continue;
    }
    char32_t c = next_code_point(text, at);
    if (is_space(c)) {
      out.add(Kind::none, 0);
    } else if (is_cjk(c)) {
      out.close();
      ++out.total;
    } else if (is_emoji(c)) {
      out.close();
      out.total += 2;
    } else if (is_word_character(c)) {
      out.add(Kind::letters, 2);
    } else {
      out.add(Kind::signs, kSignsPerToken);
    }
  }
  out.close();
  return out.total;
}

}  // namespace stoka::text
