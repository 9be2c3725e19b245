#include "base/clock.h"

#include <fmt/format.h>
#include <sys/random.h>

#include "base/ascii.h"

namespace stoka {
namespace {

std::string uuid_from(uint64_t high, uint64_t low) {
  high = (high & ~0xF000ULL) | 0x4000ULL;  // sets the four version bits of a UUID to 4
  low = (low & ~(0xC000ULL << 48)) | (0x8000ULL << 48);  // sets the variant bits of RFC 4122
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF,
                     high & 0xFFFF, low >> 48, low & 0xFFFFFFFFFFFFULL);
}

}  // namespace

Instant SystemClock::now() const {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

std::chrono::nanoseconds SystemClock::monotonic() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::string rfc3339(Instant instant) {
  Date day = std::chrono::floor<std::chrono::days>(instant);
  std::chrono::hh_mm_ss time{instant - day};
  return fmt::format("{}T{:02}:{:02}:{:02}.{:03}Z", iso_date(day), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

std::string format_duration(std::chrono::milliseconds duration) {
  if (duration < std::chrono::seconds(1)) return fmt::format("{} ms", duration.count());
  const int64_t tenths = (duration.count() + 50) / 100;
  if (tenths % 10 == 0) return fmt::format("{} s", tenths / 10);
  return fmt::format("{}.{} s", tenths / 10, tenths % 10);
}

std::string RandomUuidSource::uuid() {
  uint64_t bits[2];
  // getrandom() blocks until the pool is ready and then returns all 16 bytes, unless a signal
  // interrupts it.
  while (getrandom(bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
  }
  return uuid_from(bits[0], bits[1]);
}

std::string SeededUuidSource::uuid() {
  uint64_t high = random_();
  return uuid_from(high, random_());
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : hex_digit_value(text[i]) < 0) return false;
  }
  return true;
}

}  // namespace stoka
