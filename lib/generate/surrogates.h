// A character outside the basic plane is two escapes in JSON, "\ud83d\ude00", and some servers cut
// between them: one half ends the text of an event, the other begins that of the next. No parser
// takes such halves; so they are marked before parsing, and joined after it.
#pragma once

#include <string>
#include <string_view>

namespace stoka::generate {

// The JSON with every escape of half a pair replaced by a mark: one of the 2,048 last characters of
// the private plane, which nobody else uses.
std::string mark_lone_surrogates(std::string_view json);

// Text with marks, piece by piece, to text with characters. A half whose other half does not follow
// becomes U+FFFD. Not thread safe.
class SurrogateJoiner {
 public:
  std::string push(std::string_view text);
  std::string finish();  // once, after the last push

 private:
  char32_t high_ = 0;  // the first half of a pair, waiting
};

}  // namespace stoka::generate
