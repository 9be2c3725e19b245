// Word patterns of the router: words, alternatives and gaps, matched with the folded words of a
// question. Matching backtracks, but patterns are short and gaps have at most nine words, so the
// time that it takes is bounded.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::route {

// golden/router.toml describes the syntax. Matching is thread safe.
class Pattern {
 public:
  // A malformed pattern is an error of kind config.
  static Result<Pattern> compile(std::string_view source);

  bool matches(std::span<const std::string_view> words) const;
  // The index of the word after the first match; nothing if the pattern does not match.
  std::optional<size_t> match_end(std::span<const std::string_view> words) const;

 private:
  struct Atom {
    std::vector<std::string> words;  // alternatives; if empty, any word matches
    int min_words = 1;               // the fewest words of the question that match
    int max_words = 1;
  };
  // Matches the atoms from this one on. Returns the words after the match, or nothing.
  std::optional<std::span<const std::string_view>> match_from(
      size_t atom, std::span<const std::string_view> rest) const;

  std::vector<Atom> atoms_;
  bool at_start_ = false;
  bool at_end_ = false;
};

}  // namespace stoka::route
