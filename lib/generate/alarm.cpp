#include "generate/alarm.h"

#include <condition_variable>
#include <mutex>

namespace stoka::generate {

void Alarm::set(std::chrono::milliseconds after) {
  timer_ = std::jthread([this, after](std::stop_token over) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    wake.wait_for(lock, over, after, [] { return false; });
    if (!over.stop_requested()) source_.request_stop();
  });
}

}  // namespace stoka::generate
