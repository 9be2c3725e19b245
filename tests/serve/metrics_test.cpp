#include "serve/metrics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace metrics_test {

using namespace stoka;
using serve::Metrics;

namespace {

const std::vector<std::string_view> kRoutes = {"/", "/healthz", "/metrics", "/api/stoka/chat",
                                               "/api/stoka/discover"};

struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

// A strict parser of the format. `error` says what is wrong; it is empty if the text is valid.
struct Exposition {
  std::map<std::string, std::string> types;
  std::vector<Sample> samples;
  std::string error;

  explicit Exposition(const std::string& text) { parse(text); }

  void parse(const std::string& text) {
    if (text.empty() || text.back() != '\n') error = "no line end at the end";
    std::istringstream in(text);
    std::string family;
    std::set<std::string> helped, seen;
    for (std::string line; error.empty() && std::getline(in, line);) {
      if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) {
        size_t end = line.find(' ', 7);
        if (end == std::string::npos || end + 1 == line.size()) return bad("empty", line);
        std::string name = line.substr(7, end - 7), rest = line.substr(end + 1);
        if (types.contains(name)) return bad("declared twice, or out of order", line);
        if (line[2] == 'H') {
          if (!helped.insert(name).second) return bad("helped twice", line);
          family = name;
          continue;
        }
        if (!helped.empty() && helped.contains(name) && family != name)
          return bad("HELP and TYPE apart", line);
        if (rest != "counter" && rest != "gauge" && rest != "histogram") return bad("type", line);
        types[name] = rest;
        family = name;
      } else {
        Sample sample;
        if (!read(line, sample)) return bad("not a sample", line);
        std::string base = sample.name;
        if (!types.contains(family)) return bad("before its TYPE", line);
        if (types[family] == "histogram" && base.starts_with(family + "_")) base = family;
        if (base != family) return bad("outside of its family", line);
        if (types[family] == "counter" && !base.ends_with("_total")) return bad("no _total", line);
        if (!seen.insert(line.substr(0, line.rfind(' '))).second) return bad("twice", line);
        samples.push_back(sample);
      }
    }
  }

  void bad(const std::string& what, const std::string& line) { error = what + ": " + line; }

  static bool read(const std::string& line, Sample& out) {
    size_t i = 0;
    auto word = [&](std::string& to) {
      while (i < line.size() && (std::isalnum(static_cast<unsigned char>(line[i])) ||
                                 line[i] == '_' || line[i] == ':'))
        to += line[i++];
      return !to.empty() && !std::isdigit(static_cast<unsigned char>(to[0]));
    };
    if (!word(out.name)) return false;
    if (i < line.size() && line[i] == '{') {
      do {
        ++i;
        std::string key, value;
        if (!word(key) || line.substr(i, 2) != "=\"") return false;
        for (i += 2; i < line.size() && line[i] != '"'; ++i) {
          if (line[i] != '\\') {
            value += line[i];
          } else if (++i < line.size() && line[i] == 'n') {
            value += '\n';
          } else if (i < line.size() && (line[i] == '\\' || line[i] == '"')) {
            value += line[i];
          } else {
            return false;
          }
        }
        if (++i >= line.size() || !out.labels.emplace(key, value).second) return false;
      } while (line[i] == ',');
      if (line[i++] != '}') return false;
    }
    if (i >= line.size() || line[i] != ' ') return false;
    std::string value = line.substr(i + 1);
    if (value == "+Inf" || value == "NaN" || value == "-Inf") {
      out.value = std::numeric_limits<double>::quiet_NaN();
      return true;
    }
    size_t used = 0;
    try {
      out.value = std::stod(value, &used);
    } catch (const std::exception&) {
      return false;
    }
    return used == value.size();
  }

  // NaN if there is no such sample.
  double value(const std::string& name, const std::map<std::string, std::string>& labels = {}) {
    for (const Sample& sample : samples)
      if (sample.name == name && sample.labels == labels) return sample.value;
    return std::numeric_limits<double>::quiet_NaN();
  }
};

void check_histograms(Exposition& page) {
  std::map<std::string, std::pair<double, double>> last;  // series: bound, cumulative
  for (Sample sample : page.samples) {
    if (!sample.name.ends_with("_bucket")) continue;
    std::string le = sample.labels.at("le");
    sample.labels.erase("le");
    std::string family = sample.name.substr(0, sample.name.size() - 7), series = family;
    for (const auto& [key, value] : sample.labels) series += "|" + key + "=" + value;
    double bound = le == "+Inf" ? std::numeric_limits<double>::infinity() : std::stod(le);
    if (last.contains(series)) {
      CHECK(bound > last[series].first);
      CHECK(sample.value >= last[series].second);
    }
    last[series] = {bound, sample.value};
    if (le == "+Inf") {
      CHECK(sample.value == page.value(family + "_count", sample.labels));
      CHECK(page.value(family + "_sum", sample.labels) >= 0);
    }
  }
  CHECK(last.size() >= 3);
  for (const auto& [series, end] : last) CHECK_MESSAGE(std::isinf(end.first), series);
}

}  // namespace

TEST_CASE("the exposition is well formed with and without counts") {
  Metrics metrics("1.2.3", kRoutes);
  Exposition fresh(metrics.text());
  CHECK(fresh.error == "");
  check_histograms(fresh);
  CHECK(fresh.value("stoka_answers_total", {{"route", "void"}}) == 0);

  metrics.requests("/api/stoka/chat", 200).add();
  metrics.requests("/api/stoka/chat", 503).add(2);
  metrics.requests("/healthz", 418).add();
  metrics.request_seconds("/api/stoka/chat").observe(1.5);
  metrics.request_seconds("/healthz").observe(0.0001);
  metrics.first_token.observe(0.02);
  metrics.first_token.observe(100);
  for (Route route : {Route::meta, Route::offtopic, Route::followup, Route::fresh, Route::nothing})
    metrics.answers(route).add();
  for (auto end :
       {Metrics::StreamEnd::done, Metrics::StreamEnd::error, Metrics::StreamEnd::client_left})
    metrics.streams(end).add();
  metrics.upstream_errors("reranker", ErrorKind::timeout).add();
  metrics.upstream_errors("store", ErrorKind::internal).add();
  metrics.citations(Metrics::CitationResult::repaired).add(3);
  metrics.interventions(cite::InterventionKind::cut).add(4);
  metrics.queue_wait(Metrics::Queue::commit).observe(0.25);
  metrics.rate_limited("/api/stoka/chat").add();
  metrics.open_streams.add(3);
  metrics.open_streams.add(-1);
  metrics.connections.set(7);
  metrics.turns_not_saved.add();
  metrics.warnings.add();

  Exposition page(metrics.text());
  REQUIRE(page.error == "");
  check_histograms(page);
  CHECK(page.value("stoka_requests_total", {{"route", "/api/stoka/chat"}, {"status", "503"}}) == 2);
  CHECK(page.value("stoka_requests_total", {{"route", "/healthz"}, {"status", "other"}}) == 1);
  CHECK(page.value("stoka_request_seconds_sum", {{"route", "/api/stoka/chat"}}) == 1.5);
  CHECK(page.value("stoka_request_seconds_bucket", {{"route", "/api/stoka/chat"}, {"le", "1"}}) ==
        0);
  CHECK(page.value("stoka_request_seconds_bucket", {{"route", "/api/stoka/chat"}, {"le", "2.5"}}) ==
        1);
  CHECK(page.value("stoka_first_token_seconds_bucket", {{"le", "60"}}) == 1);
  CHECK(page.value("stoka_first_token_seconds_count") == 2);
  for (const char* route : {"meta", "offtopic", "followup", "new", "void"})
    CHECK(page.value("stoka_answers_total", {{"route", route}}) == 1);
  for (const char* end : {"done", "error", "left"})
    CHECK(page.value("stoka_streams_total", {{"end", end}}) == 1);
  CHECK(page.value("stoka_upstream_errors_total", {{"role", "reranker"}, {"kind", "timeout"}}) ==
        1);
  CHECK(page.value("stoka_upstream_errors_total", {{"role", "store"}, {"kind", "internal"}}) == 1);
  CHECK(page.value("stoka_citations_total", {{"result", "repaired"}}) == 3);
  CHECK(page.value("stoka_citations_total", {{"result", "emitted"}}) == 0);
  CHECK(page.value("stoka_interventions_total", {{"kind", "cut"}}) == 4);
  for (const char* kind : {"unsupported", "forbidden", "cited", "voided"})
    CHECK(page.value("stoka_interventions_total", {{"kind", kind}}) == 0);
  CHECK(page.value("stoka_queue_wait_seconds_sum", {{"queue", "commit"}}) == 0.25);
  CHECK(page.value("stoka_rate_limited_total", {{"route", "/api/stoka/chat"}}) == 1);
  CHECK(page.value("stoka_rate_limited_total", {{"route", "/api/stoka/discover"}}) == 0);
  CHECK(page.value("stoka_open_streams") == 2);
  CHECK(page.value("stoka_connections") == 7);
  CHECK(page.value("stoka_turns_not_saved_total") == 1);
  CHECK(page.value("stoka_warnings_total") == 1);
  CHECK(page.value("stoka_build_info", {{"version", "1.2.3"}}) == 1);
  CHECK(page.types["stoka_request_seconds"] == "histogram");
  CHECK(page.types["stoka_requests_total"] == "counter");
}

TEST_CASE("a value on a bound belongs to its bucket, and NaN and negative values count as 0") {
  struct {
    double seconds;
    size_t bucket;
    double sum;
  } cases[] = {{0.0005, 0, 0.0005}, {0.00051, 1, 0.00051}, {60, 15, 60}, {61, 16, 61},
               {-1, 0, 0},          {std::nan(""), 0, 0}};
  for (const auto& c : cases) {
    serve::Histogram histogram;
    histogram.observe(c.seconds);
    serve::Histogram::Snapshot reading = histogram.snapshot();
    CAPTURE(c.seconds);
    CHECK(reading.sum == c.sum);
    for (size_t i = 0; i < reading.cumulative.size(); ++i)
      CHECK(reading.cumulative[i] == (i >= c.bucket ? 1 : 0));
  }
}

TEST_CASE("unknown label values are counted under the label other") {
  Metrics metrics("x", kRoutes);
  for (int i = 0; i < 100; ++i) {
    metrics.requests("/wp-admin/" + std::to_string(i), 404).add();
    metrics.upstream_errors("part " + std::to_string(i), ErrorKind::busy).add();
    metrics.request_seconds("/" + std::to_string(i)).observe(1);
    metrics.rate_limited("/" + std::to_string(i)).add();
    metrics.requests("/", 600 + i).add();
  }
  Exposition page(metrics.text());
  REQUIRE(page.error == "");
  CHECK(page.value("stoka_requests_total", {{"route", "other"}, {"status", "404"}}) == 100);
  CHECK(page.value("stoka_requests_total", {{"route", "/"}, {"status", "other"}}) == 100);
  CHECK(page.value("stoka_upstream_errors_total", {{"role", "other"}, {"kind", "busy"}}) == 100);
  CHECK(page.value("stoka_request_seconds_count", {{"route", "other"}}) == 100);
  CHECK(page.value("stoka_rate_limited_total", {{"route", "other"}}) == 100);
  for (int status : {200, 204, 302, 400, 401, 403, 404, 405, 408, 411, 413,
                     415, 421, 429, 431, 499, 500, 501, 502, 503, 504, 505}) {
    metrics.requests("/metrics", status).add();
    std::map<std::string, std::string> labels = {{"route", "/metrics"},
                                                 {"status", std::to_string(status)}};
    CHECK_MESSAGE(Exposition(metrics.text()).value("stoka_requests_total", labels) == 1, status);
  }
}

TEST_CASE("label values are escaped") {
  Metrics metrics("1.0 \"beta\"\\\nnext", kRoutes);
  CHECK(metrics.text().find(R"(stoka_build_info{version="1.0 \"beta\"\\\nnext"} 1)") !=
        std::string::npos);
  Exposition page(metrics.text());
  REQUIRE(page.error == "");
  CHECK(page.value("stoka_build_info", {{"version", "1.0 \"beta\"\\\nnext"}}) == 1);
}

TEST_CASE("gauges are read at every scrape, and samples of one name are adjacent") {
  Metrics metrics("x", kRoutes);
  double taken = 1;
  metrics.add_gauge("stoka_gate_taken", {{"gate", "embedder"}}, [&] { return taken; });
  metrics.add_gauge("stoka_gate_waiting", {{"gate", "embedder"}}, [] { return 0.0; });
  metrics.add_gauge("stoka_gate_taken", {{"gate", "generator"}}, [] { return 2.0; });
  metrics.add_gauge(
      "stoka_pool_connections", {}, [] { return std::numeric_limits<double>::infinity(); },
      "Connections held.");
  Exposition before(metrics.text());
  REQUIRE(before.error == "");
  CHECK(before.value("stoka_gate_taken", {{"gate", "embedder"}}) == 1);
  CHECK(before.value("stoka_gate_taken", {{"gate", "generator"}}) == 2);
  CHECK(before.value("stoka_gate_waiting", {{"gate", "embedder"}}) == 0);
  CHECK(metrics.text().find("stoka_pool_connections +Inf\n") != std::string::npos);
  CHECK(metrics.text().find("# HELP stoka_gate_waiting ") != std::string::npos);
  taken = 4;
  CHECK(Exposition(metrics.text()).value("stoka_gate_taken", {{"gate", "embedder"}}) == 4);
}

TEST_CASE("counts are exact when many threads count and one reads") {
  Metrics metrics("x", kRoutes);
  constexpr int kThreads = 4, kTimes = 5000;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < kTimes; ++n) {
          metrics.requests("/healthz", 200).add();
          metrics.first_token.observe(0.5);
          metrics.open_streams.add(1);
          metrics.open_streams.add(-1);
        }
      });
    for (int n = 0; n < 20; ++n) {
      Exposition page(metrics.text());
      CHECK(page.error == "");
      check_histograms(page);
    }
  }
  Exposition page(metrics.text());
  CHECK(page.value("stoka_requests_total", {{"route", "/healthz"}, {"status", "200"}}) ==
        kThreads * kTimes);
  CHECK(page.value("stoka_first_token_seconds_count") == kThreads * kTimes);
  CHECK(page.value("stoka_first_token_seconds_sum") == kThreads * kTimes * 0.5);
  CHECK(page.value("stoka_open_streams") == 0);
}

#ifdef __linux__
TEST_CASE("the process metrics have plausible values") {
  Exposition page(Metrics("x", kRoutes).text());
  CHECK(page.value("process_resident_memory_bytes") > 1e6);
  CHECK(page.value("process_open_fds") >= 3);
  CHECK(page.value("process_cpu_seconds_total") >= 0);
  CHECK(page.value("process_start_time_seconds") > 1.6e9);
}
#endif

}  // namespace metrics_test
