// When to stop asking: servers that do not answer are not asked a hundred times.
#pragma once

#include <atomic>
#include <optional>

#include "base/error.h"

namespace stoka::eval {

// Threads: any.
class Patience {
 public:
  // How an attempt ended.
  void note(const std::optional<Error>& error) {
    const bool nobody =
        error && (error->kind == ErrorKind::unavailable || error->kind == ErrorKind::timeout);
    in_a_row_ = nobody ? in_a_row_ + 1 : 0;
  }
  // Several in a row reached nobody: no more are to be made.
  bool over() const { return in_a_row_ >= kMost; }

 private:
  static constexpr int kMost = 8;
  std::atomic<int> in_a_row_ = 0;
};

}  // namespace stoka::eval
