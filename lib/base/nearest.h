#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stoka {

// The known word that a mistyped one most likely meant (optimal string alignment distance of at
// most a third of its length, at least 1), or an empty string.
std::string nearest(std::string_view word, std::span<const std::string> known);

// ", did you mean 'X'?" or an empty string.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace stoka
