// The metrics of the server in the text exposition format 0.0.4 of Prometheus.
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
#include "cite/intervention.h"
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

// A histogram of durations in seconds. All histograms have the same buckets.
class Histogram {
 public:
  static constexpr std::array<double, 16> kBounds = {
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
  static constexpr size_t kBuckets = kBounds.size() + 1;  // the last bucket is unbounded

  // Adds a duration. NaN and negative values count as 0.
  void observe(double seconds);

  struct Snapshot {
    std::array<uint64_t, kBuckets> cumulative{};  // the last one is the count of all values
    double sum = 0;
  };
  Snapshot snapshot() const;

 private:
  std::array<Counter, kBuckets> buckets_;
  std::atomic<double> sum_{0};
};

using Labels = std::vector<std::pair<std::string, std::string>>;

// The number of label values is bounded: a value that is not in the tables counts as "other".
// Thread safe. The references that are returned are valid as long as this object.
class Metrics {
 public:
  enum class StreamEnd { done, error, client_left };
  enum class CitationResult { emitted, dropped, repaired };
  enum class Queue { prepare, commit };

  // Requests are counted by the paths in `routes`.
  Metrics(std::string version, const std::vector<std::string_view>& routes);

  // The status 499 means that the client disconnected before a response.
  Counter& requests(std::string_view route, int status);
  Histogram& request_seconds(std::string_view route);  // includes the time to the last byte
  Counter& rate_limited(std::string_view route);
  Counter& answers(Route route) { return answers_[static_cast<size_t>(route)]; }
  Counter& streams(StreamEnd end) { return streams_[static_cast<size_t>(end)]; }
  // A role is "embedder", "reranker", "generator" or "store".
  Counter& upstream_errors(std::string_view role, ErrorKind kind);
  Counter& citations(CitationResult result) { return citations_[static_cast<size_t>(result)]; }
  Counter& interventions(cite::InterventionKind kind) {
    return interventions_[static_cast<size_t>(kind)];
  }
  Histogram& queue_wait(Queue queue) { return queue_wait_[static_cast<size_t>(queue)]; }

  Histogram first_token;  // seconds from the request to the first token
  Gauge open_streams;
  Gauge connections;
  Counter turns_not_saved;
  Counter warnings;

  // Adds a gauge whose value is read on the thread that calls text(). `read` must be thread safe
  // and quick, must not throw, and what it refers to must outlive this object. Gauges of one name
  // differ in their labels and have the help text of the first. stoka_gate_taken and
  // stoka_gate_waiting have a help text of their own.
  void add_gauge(std::string name, Labels labels, std::function<double()> read,
                 std::string help = {});

  // Returns all metrics; the content type is kMetricsType. The count of requests for a route and
  // status is left out while it is 0; all other metrics are always included.
  std::string text() const;

 private:
  static constexpr size_t kStatuses = 27;  // number of statuses, including "other"
  static constexpr size_t kRoles = 5;      // number of roles, including "other"
  static constexpr size_t kKinds = static_cast<size_t>(ErrorKind::internal) + 1;

  struct RouteMetrics {
    std::string path;
    std::array<Counter, kStatuses> requests;
    Histogram seconds;
    Counter rate_limited;
  };
  RouteMetrics& of_route(std::string_view path);

  struct CallbackGauge {
    std::string name;
    std::string help;
    Labels labels;
    std::function<double()> read;
  };

  const std::string version_;
  std::vector<RouteMetrics> routes_;  // one per route, the last for "other"; never resized
  std::array<Counter, static_cast<size_t>(Route::nothing) + 1> answers_;
  std::array<Counter, 3> streams_;
  std::array<std::array<Counter, kKinds>, kRoles> upstream_errors_;
  std::array<Counter, 3> citations_;
  std::array<Counter, cite::kInterventionKinds.size()> interventions_;
  std::array<Histogram, 2> queue_wait_;
  mutable std::mutex gauges_mutex_;
  std::vector<CallbackGauge> gauges_;
};

inline constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace stoka::serve
