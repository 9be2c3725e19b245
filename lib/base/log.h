// The interface for warnings and notes. The library never prints; its rooms write to a Log that the
// application passes to them.
#pragma once

#include <string_view>

namespace stoka {

enum class LogLevel { info, warning };

// A log is thread safe. A message is one line without a line feed at its end. It may contain
// untrusted text: the implementation removes control characters.
class Log {
 public:
  virtual ~Log() = default;
  virtual void write(LogLevel level, std::string_view message) = 0;

  void info(std::string_view message) { write(LogLevel::info, message); }
  void warning(std::string_view message) { write(LogLevel::warning, message); }
};

class NullLog final : public Log {
 public:
  void write(LogLevel, std::string_view) override {}
};

}  // namespace stoka
