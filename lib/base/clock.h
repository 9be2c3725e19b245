// Sources of time and of random ids. Sources are passed in as objects, so that tests and
// evaluations can replace them and get the same output for the same input.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "base/date.h"

namespace stoka {

using Instant = std::chrono::sys_time<std::chrono::milliseconds>;

// A source of time. Every implementation is thread safe unless its class says otherwise.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;                         // the wall clock time in UTC
  virtual std::chrono::nanoseconds monotonic() const = 0;  // a time only for measuring durations
  Date today() const { return std::chrono::floor<std::chrono::days>(now()); }
};

class SystemClock final : public Clock {
 public:
  Instant now() const override;
  std::chrono::nanoseconds monotonic() const override;
};

// A clock for tests and evaluations, which shows a fixed time until advance() is called. The clock
// is not thread safe while it is advanced.
class FixedClock final : public Clock {
 public:
  explicit FixedClock(Instant now) : now_(now) {}
  Instant now() const override { return now_; }
  std::chrono::nanoseconds monotonic() const override { return now_.time_since_epoch(); }
  void advance(std::chrono::milliseconds by) { now_ += by; }

 private:
  Instant now_;
};

std::string rfc3339(Instant instant);  // a text such as "2026-04-12T10:00:00.000Z"

// Returns a duration as messages show it: "150 ms", "1.5 s", "60 s".
std::string format_duration(std::chrono::milliseconds duration);

// A source of UUIDs. Thread safe unless a class says otherwise.
class UuidSource {
 public:
  virtual ~UuidSource() = default;
  virtual std::string uuid() = 0;  // a UUID of version 4 in lower case
};

class RandomUuidSource final : public UuidSource {
 public:
  std::string uuid() override;
};

// An id source for tests and evaluations: the same seed gives the same ids. Not thread safe.
class SeededUuidSource final : public UuidSource {
 public:
  explicit SeededUuidSource(uint64_t seed) : random_(seed) {}
  std::string uuid() override;

 private:
  std::mt19937_64 random_;
};

// Whether the text is 8-4-4-4-12 hexadecimal digits in either case and nothing else.
bool is_uuid(std::string_view text);

}  // namespace stoka
