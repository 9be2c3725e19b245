#include "serve/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace stoka::serve {
namespace {

constexpr int kStatusCodes[] = {200, 204, 302, 304, 400, 401, 403, 404, 405, 406, 408, 411, 413,
                                414, 415, 417, 421, 429, 431, 499, 500, 501, 502, 503, 504, 505};
constexpr std::string_view kRoleNames[] = {"embedder", "reranker", "generator", "store", "other"};

// Escapes a label value. Texts after HELP need no escapes.
std::string escaped(std::string_view value) {
  std::string out;
  for (char c : value) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '"') {
      out += "\\\"";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

std::string braces(const Labels& labels) {
  if (labels.empty()) return {};
  std::string out = "{";
  for (const auto& [key, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.size() > 1 ? "," : "", key, escaped(value));
  return out + "}";
}

// Writes metrics in the text format.
class Exposition {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    if (!help.empty()) text_ += fmt::format("# HELP {} {}\n", name, help);
    text_ += fmt::format("# TYPE {} {}\n", name, type);
  }
  void sample(const Labels& labels, std::string_view value) {
    text_ += fmt::format("{}{} {}\n", name_, braces(labels), value);
  }
  void sample(const Labels& labels, const Counter& counter) {
    sample(labels, std::to_string(counter.value()));
  }
  void single(std::string_view name, std::string_view type, std::string_view help,
              std::string_view value) {
    family(name, type, help);
    sample({}, value);
  }
  void sample(const Labels& labels, const Histogram::Snapshot& reading) {
    for (size_t i = 0; i < Histogram::kBuckets; ++i) {
      Labels bucket = labels;
      bucket.emplace_back("le",
                          i < Histogram::kBounds.size() ? number(Histogram::kBounds[i]) : "+Inf");
      text_ += fmt::format("{}_bucket{} {}\n", name_, braces(bucket), reading.cumulative[i]);
    }
    text_ += fmt::format("{0}_sum{1} {2}\n{0}_count{1} {3}\n", name_, braces(labels),
                         number(reading.sum), reading.cumulative.back());
  }
  std::string take() { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

std::string slurp(const char* path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// The fields of /proc/self/stat from the third on. The second, the program's name, may hold spaces.
std::vector<std::string> stat_fields() {
  std::string text = slurp("/proc/self/stat");
  size_t end = text.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream in(text.substr(end + 1));
  std::vector<std::string> out;
  for (std::string field; in >> field;) out.push_back(field);
  return out;
}

std::optional<double> as_number(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> boot_time() {
  std::istringstream in(slurp("/proc/stat"));
  for (std::string key, rest; in >> key; std::getline(in, rest))
    if (key == "btime" && in >> rest) return as_number(rest);
  return std::nullopt;
}

std::optional<size_t> open_files() {
  std::error_code error;
  std::filesystem::directory_iterator it("/proc/self/fd", error);
  if (error) return std::nullopt;
  size_t count = 0;
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) ++count;
  return count > 0 ? count - 1 : 0;  // without the descriptor of the iterator itself
}

// The metrics that every Prometheus client library has; values that this system does not provide
// are left out. See proc(5).
void add_process_metrics(Exposition& page) {
  constexpr size_t kUserTime = 11, kSystemTime = 12, kStart = 19, kResident = 21;
  std::vector<std::string> stat = stat_fields();
  auto field = [&](size_t i) { return i < stat.size() ? as_number(stat[i]) : std::nullopt; };
  auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (auto user = field(kUserTime), system = field(kSystemTime); user && system)
    page.single("process_cpu_seconds_total", "counter", "CPU time used, user and system.",
                number((*user + *system) / ticks));
  if (auto resident = field(kResident))
    page.single("process_resident_memory_bytes", "gauge", "Resident memory.",
                number(*resident * static_cast<double>(sysconf(_SC_PAGESIZE))));
  if (auto files = open_files())
    page.single("process_open_fds", "gauge", "Open file descriptors.", std::to_string(*files));
  static const std::optional<double> boot = boot_time();
  if (auto start = field(kStart); start && boot)
    page.single("process_start_time_seconds", "gauge", "Start time of the process, in Unix time.",
                number(*boot + *start / ticks));
}

}  // namespace

void Histogram::observe(double seconds) {
  if (!(seconds > 0)) seconds = 0;
  auto it = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  buckets_[static_cast<size_t>(it - kBounds.begin())].add();
  sum_.fetch_add(seconds, std::memory_order_relaxed);
}

// The count is the sum of the buckets and not a number of its own, so that the two agree while
// other threads count.
Histogram::Snapshot Histogram::snapshot() const {
  Snapshot out;
  uint64_t so_far = 0;
  for (size_t i = 0; i < kBuckets; ++i) out.cumulative[i] = so_far += buckets_[i].value();
  out.sum = sum_.load(std::memory_order_relaxed);
  return out;
}

Metrics::Metrics(std::string version, const std::vector<std::string_view>& routes)
    : version_(std::move(version)), routes_(routes.size() + 1) {
  for (size_t i = 0; i < routes.size(); ++i) routes_[i].path = routes[i];
  routes_.back().path = "other";
}

Metrics::RouteMetrics& Metrics::of_route(std::string_view path) {
  size_t i = 0;
  while (i + 1 < routes_.size() && routes_[i].path != path) ++i;
  return routes_[i];
}

Counter& Metrics::requests(std::string_view route, int status) {
  static_assert(std::size(kStatusCodes) + 1 == kStatuses);
  const auto* at = std::find(std::begin(kStatusCodes), std::end(kStatusCodes), status);
  return of_route(route).requests[static_cast<size_t>(at - std::begin(kStatusCodes))];
}

Histogram& Metrics::request_seconds(std::string_view route) { return of_route(route).seconds; }

Counter& Metrics::rate_limited(std::string_view route) { return of_route(route).rate_limited; }

Counter& Metrics::upstream_errors(std::string_view role, ErrorKind kind) {
  static_assert(std::size(kRoleNames) == kRoles);
  size_t i = 0;
  while (i + 1 < kRoles && kRoleNames[i] != role) ++i;
  return upstream_errors_[i][static_cast<size_t>(kind)];
}

void Metrics::add_gauge(std::string name, Labels labels, std::function<double()> read,
                        std::string help) {
  if (help.empty() && name == "stoka_gate_taken") help = "Requests under way to a model server.";
  if (help.empty() && name == "stoka_gate_waiting")
    help = "Requests that wait for a place at a model server.";
  std::lock_guard lock(gauges_mutex_);
  // Prometheus requires that the samples of one metric name follow each other.
  auto after = std::find_if(gauges_.rbegin(), gauges_.rend(),
                            [&](const CallbackGauge& other) { return other.name == name; });
  auto place = after == gauges_.rend() ? gauges_.end() : after.base();
  gauges_.insert(place, {std::move(name), std::move(help), std::move(labels), std::move(read)});
}

std::string Metrics::text() const {
  Exposition page;
  page.family("stoka_requests_total", "counter", "Requests answered, by route and status.");
  for (const RouteMetrics& route : routes_)
    for (size_t i = 0; i < kStatuses; ++i)
      if (route.requests[i].value() > 0)
        page.sample({{"route", route.path},
                     {"status", i + 1 < kStatuses ? std::to_string(kStatusCodes[i]) : "other"}},
                    route.requests[i]);

  page.family("stoka_request_seconds", "histogram", "Time from a request to its last byte.");
  for (const RouteMetrics& route : routes_)
    if (auto reading = route.seconds.snapshot(); reading.cumulative.back() > 0)
      page.sample({{"route", route.path}}, reading);

  page.family("stoka_first_token_seconds", "histogram", "Time from a question to its first token.");
  page.sample({}, first_token.snapshot());

  page.family("stoka_answers_total", "counter", "Answers begun, by the route of the question.");
  for (size_t i = 0; i < answers_.size(); ++i)
    page.sample({{"route", std::string(to_string(static_cast<Route>(i)))}}, answers_[i]);

  page.single("stoka_open_streams", "gauge", "Answers that are being streamed.",
              std::to_string(open_streams.value()));

  page.family("stoka_streams_total", "counter",
              "Streams ended; left: the client disconnected first.");
  constexpr const char* kEnds[] = {"done", "error", "left"};
  for (size_t i = 0; i < streams_.size(); ++i) page.sample({{"end", kEnds[i]}}, streams_[i]);

  page.family("stoka_upstream_errors_total", "counter",
              "Failures of a model server or the store, by kind.");
  for (size_t i = 0; i < kRoles; ++i)
    for (size_t j = 0; j < kKinds; ++j)
      if (upstream_errors_[i][j].value() > 0)
        page.sample({{"role", std::string(kRoleNames[i])},
                     {"kind", std::string(to_string(static_cast<ErrorKind>(j)))}},
                    upstream_errors_[i][j]);

  page.family(
      "stoka_citations_total", "counter",
      "Citations; repaired: emitted with a corrected quote; dropped: not real, or repeated.");
  constexpr const char* kResults[] = {"emitted", "dropped", "repaired"};
  for (size_t i = 0; i < citations_.size(); ++i)
    page.sample({{"result", kResults[i]}}, citations_[i]);

  page.family("stoka_interventions_total", "counter",
              "What was changed in the answers of a model before the visitor saw it, by kind.");
  for (const cite::InterventionKind kind : cite::kInterventionKinds)
    page.sample({{"kind", std::string(cite::to_string(kind))}},
                interventions_[static_cast<size_t>(kind)]);

  page.family("stoka_queue_wait_seconds", "histogram", "Time a job waited for a thread.");
  constexpr const char* kQueues[] = {"prepare", "commit"};
  for (size_t i = 0; i < queue_wait_.size(); ++i)
    page.sample({{"queue", kQueues[i]}}, queue_wait_[i].snapshot());

  page.single("stoka_connections", "gauge", "Open client connections.",
              std::to_string(connections.value()));

  page.family("stoka_rate_limited_total", "counter", "Requests refused with 429.");
  for (const RouteMetrics& route : routes_)
    if (route.path.starts_with("/api/stoka/") || route.rate_limited.value() > 0)
      page.sample({{"route", route.path}}, route.rate_limited);

  page.single("stoka_turns_not_saved_total", "counter", "Answers whose turn could not be stored.",
              std::to_string(turns_not_saved.value()));
  page.single("stoka_warnings_total", "counter", "Warnings logged.",
              std::to_string(warnings.value()));
  {
    std::lock_guard lock(gauges_mutex_);
    for (size_t i = 0; i < gauges_.size(); ++i) {
      const CallbackGauge& watched = gauges_[i];
      if (i == 0 || gauges_[i - 1].name != watched.name)
        page.family(watched.name, "gauge", watched.help);
      page.sample(watched.labels, number(watched.read()));
    }
  }
  page.family("stoka_build_info", "gauge", "The version of stoka, as a label.");
  page.sample({{"version", version_}}, "1");
  add_process_metrics(page);
  return page.take();
}

}  // namespace stoka::serve
