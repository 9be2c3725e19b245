// Where warnings and notes go. Rooms are handed a Log; they never print.
#pragma once

#include <string_view>

namespace stoka {

enum class Level { info, warning };

// Thread safe. A message is one line without its line end, and is data: the sink cleans it of
// control characters.
class Log {
 public:
  virtual ~Log() = default;
  virtual void write(Level level, std::string_view message) = 0;

  void info(std::string_view message) { write(Level::info, message); }
  void warning(std::string_view message) { write(Level::warning, message); }
};

class NullLog final : public Log {
 public:
  void write(Level, std::string_view) override {}
};

}  // namespace stoka
