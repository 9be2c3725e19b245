#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stoka::eval {

// A line through values in [0,1], oldest first, as a figure of HTML with inline SVG: the name, the
// first and the last value, and all of it in words for who cannot see it. A report without the
// value is a gap that the line passes over. `when`: a label for each, as long as `values`. Empty if
// there is no value.
std::string line_chart(std::string_view name, std::span<const std::optional<double>> values,
                       std::span<const std::string> when);

}  // namespace stoka::eval
