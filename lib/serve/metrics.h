// What the server counts, as Prometheus reads it: text exposition format 0.0.4.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/event.h"

namespace stoka::serve {

class Counter {
 public:
  void add(uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

class Gauge {
 public:
  void add(int64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  void set(int64_t n) { value_.store(n, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

// Of durations, in seconds. Every histogram has the same buckets.
class Histogram {
 public:
  static constexpr std::array<double, 16> kBounds = {
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
  static constexpr size_t kBuckets = kBounds.size() + 1;  // the last has no upper bound

  // What is not a number, or is negative, counts as 0.
  void observe(double seconds);

  struct Reading {
    std::array<uint64_t, kBuckets> cumulative{};  // the last is the count
    double sum = 0;
  };
  Reading read() const;

 private:
  std::array<Counter, kBuckets> buckets_;
  std::atomic<double> sum_{0};
};

using Labels = std::vector<std::pair<std::string, std::string>>;

// Label values are bounded: what is not in the tables counts under "other".
// Threads: any, all members; the references stay good as long as this lives.
class Metrics {
 public:
  enum class End { done, error, left };  // left: the visitor went first
  enum class Cited { emitted, dropped, repaired };
  enum class Queue { prepare, commit };

  explicit Metrics(std::string version) : version_(std::move(version)) {}

  // route: the path as /openapi.json writes it. status 499: the client left before an answer.
  Counter& requests(std::string_view route, int status);
  Histogram& request_seconds(std::string_view route);  // to the last byte, so a chat is long
  Counter& rate_limited(std::string_view route);
  Counter& answers(Route route) { return answers_[static_cast<size_t>(route)]; }
  Counter& streams(End end) { return streams_[static_cast<size_t>(end)]; }
  // role: "embedder", "reranker", "generator", "store".
  Counter& upstream_errors(std::string_view role, ErrorKind kind);
  Counter& citations(Cited result) { return citations_[static_cast<size_t>(result)]; }
  Histogram& queue_wait(Queue queue) { return queue_wait_[static_cast<size_t>(queue)]; }

  Histogram first_token;  // from the request to the first token
  Gauge open_streams;
  Gauge connections;
  Counter turns_not_saved;
  Counter warnings;

  // A gauge that is read at every scrape, on the thread that asks for text(). `read` must be safe
  // there, quick, and outlive this; it must not throw. Of a name watched twice with other labels,
  // the first help counts; the two gates need none.
  void watch(std::string name, Labels labels, std::function<double()> read, std::string help = {});

  // Content-Type: kMetricsType. A route and a status show once they were counted, everything else
  // from 0 on.
  std::string text() const;

 private:
  static constexpr size_t kRoutes = 12;    // with "other"
  static constexpr size_t kStatuses = 27;  // with "other"
  static constexpr size_t kRoles = 5;      // with "other"
  static constexpr size_t kKinds = static_cast<size_t>(ErrorKind::internal) + 1;

  static size_t route_index(std::string_view route);
  static size_t status_index(int status);

  struct Watched {
    std::string name;
    std::string help;
    Labels labels;
    std::function<double()> read;
  };

  const std::string version_;
  std::array<std::array<Counter, kStatuses>, kRoutes> requests_;
  std::array<Histogram, kRoutes> request_seconds_;
  std::array<Counter, kRoutes> rate_limited_;
  std::array<Counter, static_cast<size_t>(Route::nothing) + 1> answers_;
  std::array<Counter, 3> streams_;
  std::array<std::array<Counter, kKinds>, kRoles> upstream_errors_;
  std::array<Counter, 3> citations_;
  std::array<Histogram, 2> queue_wait_;
  mutable std::mutex watched_mutex_;
  std::vector<Watched> watched_;
};

inline constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace stoka::serve
