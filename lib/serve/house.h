// What all answers of one server share.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include "net/loop.h"
#include "pipeline/engine.h"
#include "serve/commits.h"
#include "serve/handler.h"
#include "serve/journal.h"
#include "serve/metrics.h"
#include "serve/trace_context.h"
#include "serve/workers.h"

namespace stoka::serve {

struct House {
  pipeline::Engine& engine;
  net::Loop& loop;
  Workers& quick;  // what only asks the store
  Workers& slow;   // what may wait for a model
  Commits& commits;
  Metrics& metrics;
  Journal& journal;
  std::chrono::milliseconds ping{15000};  // of silence in a stream, until a comment is sent
};

// Who waited longer for a thread is told that the server is busy.
inline constexpr std::chrono::seconds kMostLate{10};
Error too_busy();

// What a client is told of an error: nothing of what the server is made of, which its log has.
Error public_error(const Error& error);

// What is thrown on a worker's thread is an error like others.
template <class Work>
auto guarded(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& thrown) {
    return stoka::fail(ErrorKind::internal, thrown.what());
  }
}

// One request, from its head to its end: what it is called, and its line in the journal. On the
// thread of the loop.
class Visit {
 public:
  using Headers = std::vector<std::pair<std::string_view, std::string>>;

  // `headers`: those of every answer to it, beside X-Request-Id.
  Visit(House& house, Client& client, const Request& request, std::string_view route, Ids& ids,
        Headers headers);
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  // For an answer that is still to come: 405, 401, 429.
  void add_header(std::string_view name, std::string value);

  // Exactly one of these; then the client must not be spoken to any more, but by the stream.
  void respond(Response response);
  void fail(const Error& error, std::string_view field = {}, int status = 0);
  void begin_stream();
  void left();

  // The end of a stream.
  void end_stream(Metrics::End end, std::string_view detail = {});

  void set_query(std::string query) { query_ = std::move(query); }
  std::chrono::steady_clock::time_point start() const { return start_; }
  const std::string& request_id() const { return request_id_; }

 private:
  friend class Site;
  void over(int status, std::string_view end, std::string_view detail);

  House& house_;
  Client& client_;
  const std::string method_;
  const std::string_view route_;
  Headers headers_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string request_id_;
  TraceContext trace_;
  std::string query_;
  int status_ = 0;
};

}  // namespace stoka::serve
