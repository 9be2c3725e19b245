// The log of the server: messages and one line for each request, as text or JSON. The log never
// holds a key or the address of a client, and holds questions only if that is switched on.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "cite/intervention.h"

namespace stoka::serve {

struct AccessLogOptions {
  bool json = true;
  bool info = true;      // false: only warnings are written
  bool queries = false;  // whether questions are written
};

// One request, logged when its response has ended.
struct AccessLogEntry {
  std::string_view request_id;
  std::string_view trace_id;
  std::string_view span_id;
  std::string_view method;
  std::string_view route;  // the path in the table of routes, or "other"
  int status = 0;          // the status; 499 if the client disconnected before a response
  std::string_view end;    // how a stream ended: "done", "error", "left"
  double ms = 0;
  std::string_view detail;  // the message of an error
  std::string_view query;   // the question; written only if the options say so
  const cite::Interventions* interventions = nullptr;  // interventions in the answer; null: none
};

// The log of finished requests. Thread safe.
class AccessLog final : public Log {
 public:
  // `sink` is called with one whole line at a time, including its line end.
  AccessLog(const Clock& clock, AccessLogOptions options,
            std::function<void(std::string_view)> sink);

  void write(LogLevel level, std::string_view message) override;
  void log_request(const AccessLogEntry& entry);
  // Sets a function that is called before each warning is written. It must be set before other
  // threads write.
  void on_warning(std::function<void()> callback) { on_warning_ = std::move(callback); }

 private:
  const Clock& clock_;
  const AccessLogOptions options_;
  std::function<void()> on_warning_;
  std::mutex mutex_;
  const std::function<void(std::string_view)> sink_;
};

}  // namespace stoka::serve
