// Answers that are the same for everybody on a page, kept for a while.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace stoka::serve {

// Not thread safe. Times are of a monotonic clock.
class PageCache {
 public:
  explicit PageCache(std::chrono::seconds keep = std::chrono::seconds(60), size_t most = 2000)
      : keep_(keep), most_(most) {}

  // Nothing: it is to be made and put. When it has passed, one is told so, and the others get what
  // there was for another while.
  const std::string* find(std::string_view page, std::chrono::nanoseconds now) {
    const auto found = entries_.find(page);
    if (found == entries_.end()) return nullptr;
    if (now < found->second.until) return &found->second.body;
    if (now >= found->second.until + keep_) return nullptr;
    found->second.until = now + keep_;
    return nullptr;
  }
  // When there are too many pages, those that have passed go, or else all.
  void put(std::string page, std::string body, std::chrono::nanoseconds now) {
    if (entries_.size() >= most_)
      std::erase_if(entries_, [&](const auto& entry) { return now >= entry.second.until; });
    if (entries_.size() >= most_) entries_.clear();
    entries_.insert_or_assign(std::move(page), Entry{std::move(body), now + keep_});
  }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string body;
    std::chrono::nanoseconds until;
  };
  const std::chrono::nanoseconds keep_;
  const size_t most_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace stoka::serve
