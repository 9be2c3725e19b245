#pragma once

#include <functional>

namespace stoka::testing {

// Whether the condition becomes true within 20 seconds.
bool eventually(const std::function<bool()>& holds);

}  // namespace stoka::testing
