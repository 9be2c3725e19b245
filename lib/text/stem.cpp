#include <libstemmer.h>

#include <memory>
#include <unordered_map>

#include "text/words.h"

namespace stoka::text {
namespace {

constexpr size_t kMaxWordBytes = 64;  // bytes of a word; longer ones are not stemmed
constexpr size_t kMaxCached = 30'000;

// A Snowball stemmer with a cache of its results. Not thread safe; each thread has its own.
class Stemmer {
 public:
  Stemmer() : stemmer_(sb_stemmer_new("english", "UTF_8")) {}

  const std::string& stem(std::string_view word) {
    key_.assign(word);
    auto found = cache_.find(key_);
    if (found != cache_.end()) return found->second;
    if (cache_.size() >= kMaxCached) cache_.clear();
    return cache_.emplace(key_, compute(word)).first->second;
  }

 private:
  struct Delete {
    void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
  };

  std::string compute(std::string_view word) {
    if (!stemmer_) return std::string(word);
    const sb_symbol* out =
        sb_stemmer_stem(stemmer_.get(), reinterpret_cast<const sb_symbol*>(word.data()),
                        static_cast<int>(word.size()));
    if (!out) return std::string(word);
    return {reinterpret_cast<const char*>(out),
            static_cast<size_t>(sb_stemmer_length(stemmer_.get()))};
  }

  std::unique_ptr<sb_stemmer, Delete> stemmer_;
  std::unordered_map<std::string, std::string> cache_;
  std::string key_;
};

Stemmer& stemmer() {
  thread_local Stemmer instance;
  return instance;
}

}  // namespace

std::string stem(std::string_view word) {
  return word.size() <= kMaxWordBytes ? stemmer().stem(word) : std::string(word);
}

}  // namespace stoka::text
