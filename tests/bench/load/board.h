// Shared memory between the benchmark and the upstream process: settings for the upstream, and its
// counters.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace stoka::load {

// Words in a query that control the upstream.
inline constexpr std::string_view kLeaver = "leaver-";  // followed by six digits: see left_us
inline constexpr std::string_view kLongAnswer = "long-answer";  // an answer of megabytes
inline constexpr std::string_view kNoMatch = "no-match";        // reranked to nearly 0

struct Board {
  static constexpr size_t kLeavers = 100000;

  // Settings of the next streams.
  std::atomic<int> tokens{60};
  std::atomic<int> citations{4};
  std::atomic<int> interval_us{0};     // between tokens; 0 sends the whole answer at once
  std::atomic<int> fault_permille{0};  // of all requests except /info and /v1/models

  std::atomic<int64_t> embeds{0}, reranks{0}, chats{0};
  std::atomic<int64_t> open{0};  // open streams
  std::atomic<int64_t> finished{0};
  std::atomic<int64_t> left{0};  // streams closed by the peer before their end
  std::atomic<int64_t> faults{0};
  std::atomic<int64_t> left_us[kLeavers] = {};  // when they were closed, by the number in the query

  // The last request bodies, so that the same requests can be sent without stoka.
  class Kept {
   public:
    void put(std::string_view body) {
      if (body.size() > sizeof bytes_) return;
      std::memcpy(bytes_, body.data(), body.size());
      size_ = body.size();
    }
    std::string get() const { return {bytes_, size_}; }

   private:
    std::atomic<size_t> size_{0};
    char bytes_[1 << 18] = {};
  };
  Kept embed, rerank, chat;
};

Board& make_board();  // shared with processes forked later; never freed

}  // namespace stoka::load
