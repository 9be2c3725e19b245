// Word patterns of the router: a few words, alternatives and gaps over the folded words of a
// question. Linear in practice, bounded always: patterns are short and gaps are small.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::route {

// Syntax in golden/router.toml.
class Pattern {
 public:
  static Result<Pattern> compile(std::string_view source);

  bool matches(std::span<const std::string_view> words) const;

 private:
  struct Element {
    std::vector<std::string> words;  // any of these; empty: any word
    int least = 1;                   // repeats
    int most = 1;
  };
  bool matches_from(size_t element, std::span<const std::string_view> rest) const;

  std::vector<Element> elements_;
  bool at_start_ = false;
  bool at_end_ = false;
};

}  // namespace stoka::route
