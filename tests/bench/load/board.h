// What the benchmark tells the upstream, and what the upstream has seen: in memory that both
// processes share.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace stoka::load {

// In a query, these words tell the upstream something.
inline constexpr std::string_view kLeaver = "leaver-";          // and six digits: see left_us
inline constexpr std::string_view kLongAnswer = "long-answer";  // megabytes
inline constexpr std::string_view kNoMatch = "no-match";        // reranked to nearly nothing

struct Board {
  static constexpr size_t kLeavers = 100000;

  // Of the next streams.
  std::atomic<int> tokens{60};
  std::atomic<int> citations{4};
  std::atomic<int> interval_us{0};     // 0: the whole answer at once
  std::atomic<int> fault_permille{0};  // of all requests but /info and /v1/models

  std::atomic<int64_t> embeds{0}, reranks{0}, chats{0};
  std::atomic<int64_t> open{0};  // streams
  std::atomic<int64_t> finished{0};
  std::atomic<int64_t> left{0};  // closed by the peer before their end
  std::atomic<int64_t> faults{0};
  std::atomic<int64_t> left_us[kLeavers] = {};  // when, by the number of the leaver

  // The last body of a request, so that the same can be sent without stoka.
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

Board& make_board();  // shared with processes forked later; lives as long as the process

}  // namespace stoka::load
