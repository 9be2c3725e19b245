// What the server writes about its work: one line an entry, for people or as JSON. Never a
// question, a key or an address of a client, unless questions are asked for.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"

namespace stoka::serve {

struct JournalOptions {
  bool json = true;
  bool info = true;      // notes and requests; warnings always
  bool queries = false;  // questions too
};

// One request, when it is over.
struct Visited {
  std::string_view request_id;
  std::string_view trace_id;
  std::string_view span_id;
  std::string_view method;
  std::string_view route;  // of the table
  int status = 0;          // 499: the client left before an answer
  std::string_view end;    // of a stream: "done", "error", "left"
  double ms = 0;
  std::string_view detail;  // of an error
  std::string_view query;   // kept back unless asked for
};

// Threads: any.
class Journal final : public Log {
 public:
  // `sink` gets whole lines with their ends, one at a time.
  Journal(const Clock& clock, JournalOptions options, std::function<void(std::string_view)> sink);

  void write(Level level, std::string_view message) override;
  void visited(const Visited& visited);
  // Called with every warning, before it is written; to be set before other threads write.
  void on_warning(std::function<void()> told) { on_warning_ = std::move(told); }

 private:
  const Clock& clock_;
  const JournalOptions options_;
  std::function<void()> on_warning_;
  std::mutex mutex_;
  const std::function<void(std::string_view)> sink_;
};

}  // namespace stoka::serve
