#include "base/spoken.h"

#include <fmt/format.h>

#include <cstdint>

namespace stoka {

std::string spoken(std::chrono::milliseconds duration) {
  if (duration < std::chrono::seconds(1)) return fmt::format("{} ms", duration.count());
  const int64_t tenths = (duration.count() + 50) / 100;
  if (tenths % 10 == 0) return fmt::format("{} s", tenths / 10);
  return fmt::format("{}.{} s", tenths / 10, tenths % 10);
}

}  // namespace stoka
