// Clients of an event stream: many connections, one thread, little CPU a byte, since the two cores
// of a small machine are shared with what is measured. Every stream is checked against the contract
// as it is read.
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
    turn,   // stoka's events: ready, token and cite, done or error
    relay,  // a model server's stream: data lines and [DONE]
    plain,  // no stream
  };
  enum class Manner {
    usual,
    slow,     // a small window, read a little at a time
    stalled,  // reads nothing for 40 s once the head is there, and may be cut
  };
  std::string bytes = {};  // of the whole request
  Form form = Form::plain;
  int tag = 0;  // the caller's
  Manner manner = Manner::usual;
  int leave_after = -1;         // events; 0: with the head. -1: stays
  int64_t leave_after_us = -1;  // of when it was sent
  bool reset = false;           // leaves with RST
  bool keep_body = false;       // see Outcome::body
};

struct Outcome {
  int tag = 0;
  Job::Form form = Job::Form::plain;
  int status = 0;                                              // 0: none came
  int64_t sent_us = 0, head_us = 0, first_us = 0, end_us = 0;  // first: the first token
  int tokens = 0, cites = 0;
  char last = 0;  // of a stream: 'd' done, 'e' error
  bool left = false;
  bool cut = false;  // by the server, before the end
  bool retry_after = false;
  std::string wrong = {};    // what breaks the contract; empty: nothing
  std::string body = {};     // with keep_body, its beginning
  std::string session = {};  // of the ready event

  double ms() const { return static_cast<double>(end_us - sent_us) / 1e3; }
};

struct ClientOptions {
  uint16_t port = 0;
  int connections = 1;
  double job_seconds = 60;  // an answer that takes longer is wrong
  // Times of paced tokens are kept while so many streams are past their first token; 0: never.
  int paced_from = 0;
};

// Of paced tokens, in ms.
struct Pace {
  std::vector<float> late;  // against the time at which the token was due
  std::vector<float> gap;   // since the token before, of two that follow each other
};

class Client {
 public:
  // A job for a connection that is free; nothing ends that connection.
  using Next = std::function<std::optional<Job>()>;
  using Done = std::function<void(const Outcome&)>;

  explicit Client(const ClientOptions& options) : options_(options) {}

  // Until all connections have ended; throws when interrupted, or when nobody listens.
  void run(const Next& next, const Done& done);
  Pace& pace() { return pace_; }

 private:
  ClientOptions options_;
  Pace pace_;
};

std::string request(std::string_view method, std::string_view target, std::string_view body = {});

// Sorts them; 0 of none.
template <class T>
double percentile(std::vector<T>& values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return static_cast<double>(
      values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))]);
}

}  // namespace stoka::load
