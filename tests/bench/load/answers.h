// What the upstream of a benchmark says, as bytes. No JSON library: it shares two cores with what
// is measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::load {

// JSON strings of the array that is the value of `key`, without quotes, escapes as they are.
std::vector<std::string_view> strings_of(std::string_view body, std::string_view key);

std::string info_json();
std::string models_json();
std::string embed_json(std::string_view body);   // unit vectors of 1,024, by the text
std::string rerank_json(std::string_view body);  // 0.99 and down; nearly 0 with kNoMatch
std::string whole_chat_json(std::string_view body);

std::string http(int status, std::string_view json);
std::string stream_head();

// The deltas of one answer. A token that is no part of a citation is its time, "t0123456789 ", when
// it is paced, so that the reader can tell how late it came.
class Script {
 public:
  Script(std::string_view body, int tokens, int citations, bool paced);
  int tokens() const { return tokens_; }
  // Appends the chunk of the token at `at`, which was due at due_us.
  void token(std::string& out, int at, int64_t due_us) const;
  static void finish(std::string& out);
  static void error_event(std::string& out);
  static void garbage(std::string& out);

 private:
  int tokens_;
  bool paced_;
  bool long_;
  std::vector<std::string> at_;  // pieces of citations by token; "" elsewhere
};

}  // namespace stoka::load
