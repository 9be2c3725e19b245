// One HTTP exchange: what is asked, what is heard, and who carries it. The network is one carrier
// (net/client.h), a recording another (net/recording.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace stoka::net {

using Milliseconds = std::chrono::milliseconds;

// Each is counted from where it can first be missed; zero: none.
struct Deadlines {
  Milliseconds connect{5000};
  Milliseconds headers{60000};       // from the request to the response's head
  Milliseconds first_token{120000};  // from the request to the first body that is of use
  Milliseconds idle{60000};          // between two pieces of body, whatever is in them
  Milliseconds total{300000};        // the whole exchange
};

struct Request {
  std::string method = "POST";  // GET has no body
  std::string url;
  std::string body;  // JSON
  std::string accept = "application/json";
  Secret key;             // sent as "Authorization: Bearer"
  bool use_proxy = true;  // of the environment
  Deadlines deadlines;
  size_t most_bytes = 16u << 20;  // of body; more is a protocol error
  // What a recording knows the exchange by.
  std::string role;     // "embedder", "reranker", "generator"
  std::string name;     // of the endpoint: "chat/completions"
  std::string subject;  // what it is about, e.g. the question; may be empty
};

struct Head {
  int status = 0;
  std::string content_type;                         // lower case, without parameters
  std::optional<std::chrono::seconds> retry_after;  // given as seconds; a date is ignored
  std::string location = {};  // of a redirect elsewhere: "https://host:8000", nothing else of it
  std::optional<int> requests_left = {};  // RateLimit-Remaining
};

// What the listener makes of a piece of body.
enum class Heard {
  waiting,  // nothing of use yet: the first-token deadline runs on
  flowing,
  ending,  // all of use has come: a second is left for the rest, and however it ends is a success
  enough,  // the exchange is complete, whatever the server still has to say
};

// Called on the thread of the loop that carries the exchange. An error ends it, and is its error.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual Result<> head(const Head& head) = 0;  // once, before any body
  virtual Result<Heard> body(std::string_view bytes) = 0;
};

// What an exchange failed by, where that tells what to set: a name that is no host's, or the
// deadline that ran out.
enum class Cause { other, no_host, connect, headers, first_token, idle, total };

// How an exchange failed. Kinds: unavailable (no connection, broken off), timeout, protocol (no
// HTTP, too large, a wrong certificate), cancelled, or what the listener said.
struct Failure {
  Error error;
  bool connected = false;  // false: the server never saw the request, so asking again is safe
  bool answered = false;   // a head had come
  Cause cause = Cause::other;
};

class Loop;
class Loops;

// How an exchange went; nothing: well.
using Done = std::function<void(std::optional<Failure>)>;

// An exchange that is under way, in the hands of whoever started it. All of it happens on the
// thread of its loop. Destroyed, it is over at once: the server sees the connection close, and
// nobody is called any more. Not to be destroyed from within its listener.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // No more is read, so that the server has to wait; what was read already may still be heard.
  virtual void pause() {}
  virtual void resume() {}
};

// Redirects are not followed: their head is the answer. Threads: any; see loop.
class Transport {
 public:
  Transport();
  virtual ~Transport();
  // `done` is called once, from a later round of the loop, and may destroy the transfer.
  virtual std::unique_ptr<Transfer> start(Loop& loop, const Request& request, Listener& listener,
                                          Done done) = 0;
  // Blocks until the exchange is over, with the listener on the calling thread. A stop ends it
  // within 100 ms.
  virtual std::optional<Failure> perform(const Request& request, Listener& listener,
                                         std::stop_token stop);
  // For callers that wait.
  Loops& loops() { return *loops_; }

 private:
  std::unique_ptr<Loops> loops_;
};

// One that has its answer at hand and never waits.
class Immediate : public Transport {
 public:
  std::unique_ptr<Transfer> start(Loop& loop, const Request& request, Listener& listener,
                                  Done done) override;
  std::optional<Failure> perform(const Request& request, Listener& listener,
                                 std::stop_token stop) override = 0;
};

}  // namespace stoka::net
