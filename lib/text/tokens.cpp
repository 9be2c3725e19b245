#include "text/tokens.h"

#include <array>

#include "base/ascii.h"
#include "text/characters.h"
#include "text/utf8.h"

namespace stoka::text {
namespace {

// Most English words of up to seven letters are one token of a byte-pair vocabulary.
constexpr size_t kLettersPerToken = 7;
constexpr size_t kDigitsPerToken = 3;
constexpr size_t kSignsPerToken = 3;

enum class Kind { none, letters, digits, signs, breaks };

// The kinds of ASCII characters, as a table for speed.
constexpr std::array<Kind, 128> kAscii = [] {
  std::array<Kind, 128> out{};
  for (char32_t c = 0; c < out.size(); ++c) {
    out[c] = c == ' '                 ? Kind::none
             : is_ascii_letter(c)     ? Kind::letters
             : is_ascii_digit(c)      ? Kind::digits
             : c >= '\t' && c <= '\r' ? Kind::breaks
                                      : Kind::signs;
  }
  return out;
}();

// Adds up the tokens of runs of characters of one kind.
struct Estimator {
  Kind kind = Kind::none;
  size_t run = 0;  // the length of the current run, in weighted characters
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
