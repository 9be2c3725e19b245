// A bounded cache of response bodies whose entries expire.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

namespace stoka::serve {

// A cache; not thread safe. `now` is the time of a monotonic clock.
class ResponseCache {
 public:
  explicit ResponseCache(std::chrono::seconds ttl = std::chrono::seconds(60),
                         size_t max_entries = 2000)
      : ttl_(ttl), max_entries_(max_entries) {}

  // Looks up a value. Null means that the caller must make the value and put() it. When an entry
  // has expired, only the first caller gets null; the others get the old value for one more TTL, so
  // that a value is not made by many at once.
  const std::string* find(std::string_view key, std::chrono::nanoseconds now) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    if (now < found->second.expires) return &found->second.value;
    if (now >= found->second.expires + ttl_) return nullptr;
    found->second.expires = now + ttl_;
    return nullptr;
  }
  // A full cache first drops its expired entries, or all entries if none has expired.
  void put(std::string key, std::string value, std::chrono::nanoseconds now) {
    if (entries_.size() >= max_entries_)
      std::erase_if(entries_, [&](const auto& entry) { return now >= entry.second.expires; });
    if (entries_.size() >= max_entries_) entries_.clear();
    entries_.insert_or_assign(std::move(key), Entry{std::move(value), now + ttl_});
  }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string value;
    std::chrono::nanoseconds expires;
  };
  const std::chrono::nanoseconds ttl_;
  const size_t max_entries_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace stoka::serve
