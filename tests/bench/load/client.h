// The load generator: many connections on one thread with little CPU time, because it shares two
// cores with the measured server. Every stream is checked against the protocol while it is read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::load {

struct Job {
  enum class Form {
    turn,   // events of stoka: ready, token and cite, done or error
    relay,  // stream of a model server: data lines and [DONE]
    plain,  // not a stream
  };
  enum class Manner {
    usual,
    slow,     // a small receive window, read in small pieces
    stalled,  // pauses for 40 s after the head; the server may disconnect
  };
  std::string bytes = {};  // the whole request
  Form form = Form::plain;
  int tag = 0;  // for the caller
  Manner manner = Manner::usual;
  int leave_after = -1;         // disconnects after so many events; 0: after the head; -1: never
  int64_t leave_after_us = -1;  // disconnects so long after sending
  bool reset = false;           // disconnects with RST
  bool keep_body = false;       // see Outcome::body
};

struct Outcome {
  int tag = 0;
  Job::Form form = Job::Form::plain;
  int status = 0;                                              // 0 if there was no response
  int64_t sent_us = 0, head_us = 0, first_us = 0, end_us = 0;  // first_us: of the first token
  int tokens = 0, cites = 0;
  char last = 0;  // last event of a stream: 'd' done, 'e' error
  bool left = false;
  bool cut = false;  // the server disconnected before the end
  bool retry_after = false;
  std::string wrong = {};    // the protocol violation, if any
  std::string body = {};     // its beginning, if keep_body
  std::string session = {};  // from the ready event

  double ms() const { return static_cast<double>(end_us - sent_us) / 1e3; }
};

struct ClientOptions {
  uint16_t port = 0;
  int connections = 1;
  double job_seconds = 60;  // a longer answer counts as wrong
  // Latencies of paced tokens are recorded while at least so many streams are past their first
  // token; 0 records none.
  int paced_from = 0;
};

// Latencies of paced tokens in ms.
struct Pace {
  std::vector<float> late;  // after the scheduled time
  std::vector<float> gap;   // between consecutive tokens
};

class Client {
 public:
  // Returns a job for a free connection; nullopt closes the connection.
  using Next = std::function<std::optional<Job>()>;
  using Done = std::function<void(const Outcome&)>;

  explicit Client(const ClientOptions& options) : options_(options) {}

  // Runs until all connections are closed. Throws if interrupted or if the port refuses
  // connections.
  void run(const Next& next, const Done& done);
  Pace& pace() { return pace_; }

 private:
  ClientOptions options_;
  Pace pace_;
};

std::string request(std::string_view method, std::string_view target, std::string_view body = {});

// Sorts the values; 0 if there are none.
template <class T>
double percentile(std::vector<T>& values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return static_cast<double>(
      values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))]);
}

}  // namespace stoka::load
