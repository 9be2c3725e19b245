// The response bodies of the benchmark's upstream. They are made without a JSON library, because
// the upstream shares two cores with the measured server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::load {

// The strings of the JSON array under `key`, without quotes and with their escapes.
std::vector<std::string_view> strings_of(std::string_view body, std::string_view key);

std::string info_json();
std::string models_json();
std::string embed_json(std::string_view body);   // a unit vector of 1,024 for each text
std::string rerank_json(std::string_view body);  // falling from 0.99; nearly 0 for kNoMatch
std::string whole_chat_json(std::string_view body);

std::string http(int status, std::string_view json);
std::string stream_head();

// The deltas of one answer. In a paced answer, each token outside of citations is the time at which
// it was scheduled, "t0123456789 ", so that the reader can tell how late it is.
class Script {
 public:
  Script(std::string_view body, int tokens, int citations, bool paced);
  int tokens() const { return tokens_; }
  // Appends the chunk of the token at index `at`, which was scheduled for due_us.
  void token(std::string& out, int at, int64_t due_us) const;
  static void finish(std::string& out);
  static void error_event(std::string& out);
  static void garbage(std::string& out);

 private:
  int tokens_;
  bool paced_;
  bool long_;
  std::vector<std::string> at_;  // the citation piece of each token; "" outside of citations
};

}  // namespace stoka::load
