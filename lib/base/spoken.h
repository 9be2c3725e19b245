#pragma once

#include <chrono>
#include <string>

namespace stoka {

// A duration for people: "150 ms", "1.5 s", "60 s".
std::string spoken(std::chrono::milliseconds duration);

}  // namespace stoka
