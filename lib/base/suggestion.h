// Suggestions for mistyped words.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stoka {

// Returns the known word that is closest to `word`, or an empty string if none is close enough. The
// optimal string alignment distance may be at most a third of the length of `word`, but at least 1.
std::string closest_match(std::string_view word, std::span<const std::string> known);

// Returns ", did you mean 'X'?", or an empty string if no known word is close enough.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace stoka
