// JSON escapes a character outside the Basic Multilingual Plane as a pair of surrogates,
// "\ud83d\ude00", and some servers send the two halves in different events. JSON parsers reject
// unpaired surrogates, so they are replaced by marks before parsing and joined afterwards.
#pragma once

#include <string>
#include <string_view>

namespace stoka::generate {

// Replaces every escape of an unpaired surrogate by a mark, which is one of the last 2,048
// characters of the last private use plane.
std::string mark_lone_surrogates(std::string_view json);

// Takes text with marks in pieces of any size and joins the marks to characters. A mark without its
// other half becomes U+FFFD. Not thread safe.
class SurrogateJoiner {
 public:
  std::string push(std::string_view text);
  std::string finish();  // call it once, after the last push()

 private:
  char32_t high_ = 0;  // a high surrogate whose low surrogate has not come yet; else 0
};

}  // namespace stoka::generate
