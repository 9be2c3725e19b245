// Runs `stoka serve` under a mixed load with faults for some minutes. The server must not crash, no
// stream may violate the protocol, and no stream or permit may leak. Exits with 1 otherwise.
//
//   bench_soak [--stoka PATH] [--minutes M] [--connections C] [--rss-slack MB]
//
// 5 % of the requests to the model servers fail in one of five ways, 10 % of the visitors
// disconnect before the end of their answer, and a few read slowly or pause. The program may be
// built with a sanitizer: its reports in the log count as errors, and --rss-slack allows for its
// quarantine.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <fstream>
#include <map>
#include <numeric>
#include <stdexcept>

#include "bench/load/client.h"
#include "bench/load/environment.h"

using namespace stoka;
using namespace stoka::load;

namespace {

enum Kind { fresh, followup, canned, nothing, slow, stalled, discover, context, profile, metrics };
constexpr std::array kNames = {"new",     "followup", "canned",  "void",    "slow",
                               "stalled", "discover", "context", "profile", "metrics"};
constexpr size_t kKinds = kNames.size();

constexpr int kFaultPermille = 50;
constexpr int kLeavePercent = 10;
constexpr int64_t kMaxSlow = 3, kMaxStalled = 2;  // at the same time
constexpr int64_t kMaxSlowDuration = 45000000;    // us that slow and stalled readers may take

struct Options {
  std::string stoka;
  double minutes = 10;
  int connections = 48;
  double rss_slack_mb = 8;
};

struct Row {
  int64_t count = 0, done = 0, error = 0, left = 0, active = 0;
  std::map<int, int64_t> status;
  std::vector<float> ms;
};

class Soak {
 public:
  explicit Soak(const Options& options) : options_(options), environment_(options.stoka) {}

  bool run() {
    environment_.index(true);
    port_ = free_port();
    serve_ = environment_.serve(true, port_, variables());
    environment_.board().fault_permille = kFaultPermille;
    start_ = now_us();
    end_ = start_ + static_cast<int64_t>(options_.minutes * 60e6);
    Client client({port_, options_.connections, 120, 0});
    client.run([&] { return next(); }, [&](const Outcome& outcome) { judge(outcome); });
    environment_.board().fault_permille = 0;
    const double seconds = static_cast<double>(now_us() - start_) / 1e6;
    check_rest();
    check_memory();
    const int code = serve_->end();
    if (code != 0) wrong(fmt::format("stoka ended with {}", code));
    check_log();
    print(seconds);
    return wrong_.empty();
  }

 private:
  // Short timeouts, so that a silent model server is detected during the run.
  static Variables variables() {
    return {{"STOKA_GEN_IDLE_TIMEOUT", "3"},    {"STOKA_GEN_FIRST_TOKEN_TIMEOUT", "5"},
            {"STOKA_GEN_HEADERS_TIMEOUT", "5"}, {"STOKA_EMBED_CONCURRENCY", "4"},
            {"STOKA_RERANK_CONCURRENCY", "4"},  {"STOKA_GEN_CONCURRENCY", "64"}};
  }

  std::optional<Job> next() {
    const int64_t now = now_us();
    look_after(now);
    if (now >= end_) return std::nullopt;
    const Kind kind = pick(now);
    Job out = make(kind);
    out.tag = kind;
    ++rows_[kind].active;
    const bool may_leave = kind == fresh || kind == followup || kind == nothing || kind == discover;
    if (may_leave && below(100) < kLeavePercent) {
      if (out.form == Job::Form::turn && below(2) == 0)
        out.leave_after = below(40);
      else
        out.leave_after_us = below(200000);
      out.reset = below(2) == 0;
    }
    return out;
  }

  Kind pick(int64_t now) {
    if (now + kMaxSlowDuration > end_ && now - start_ > kMaxSlowDuration) return pick_quick();
    if (rows_[slow].active < kMaxSlow && below(50) == 0) return slow;
    if (rows_[stalled].active < kMaxStalled && below(50) == 0) return stalled;
    return pick_quick();
  }

  Kind pick_quick() {
    const int percent = below(100);
    if (percent < 45) return fresh;
    if (percent < 60) return sessions_.empty() ? fresh : followup;
    if (percent < 72) return canned;
    if (percent < 77) return nothing;
    if (percent < 85) return discover;
    if (percent < 91) return context;
    if (percent < 97) return profile;
    return metrics;
  }

  Job make(Kind kind) {
    if (kind == discover || kind == context || kind == profile || kind == metrics)
      return plain(kind);
    Job out;
    out.form = Job::Form::turn;
    std::string query = question(random_), session;
    if (kind == canned) query = "what is this?";
    if (kind == nothing) query = fmt::format("{} {}", kNoMatch, query);
    if (kind == slow || kind == stalled) {
      query = fmt::format("{} {}", kLongAnswer, query);
      out.manner = kind == slow ? Job::Manner::slow : Job::Manner::stalled;
    }
    if (kind == followup) {
      query = fmt::format("what about w{}", below(300));
      session = sessions_[static_cast<size_t>(below(static_cast<int>(sessions_.size())))];
    }
    out.bytes = request("POST", "/api/stoka/chat", chat_body(query, session));
    return out;
  }

  Job plain(Kind kind) {
    Job out;
    const std::string visitor = fmt::format("00000000-0000-4000-8000-{:012}", below(500));
    const std::string page = fmt::format("/blog/page-{}", below(250));
    if (kind == discover)
      out.bytes = request("POST", "/api/stoka/discover",
                          fmt::format(R"({{"visitor_id":"{}","page":"{}"}})", visitor, page));
    else if (kind == context)
      out.bytes = request("GET", "/api/stoka/context?page=" + page);
    else if (kind == metrics)
      out.bytes = request("GET", "/metrics");
    else if (below(2) == 0)
      out.bytes = request("GET", "/api/stoka/profile?visitor_id=" + visitor);
    else
      out.bytes =
          request("POST", "/api/stoka/profile",
                  fmt::format(R"({{"visitor_id":"{}","interests":["w{}"]}})", visitor, below(40)));
    return out;
  }

  void judge(const Outcome& outcome) {
    const auto kind = static_cast<Kind>(outcome.tag);
    Row& row = rows_[kind];
    --row.active;
    ++row.count;
    if (outcome.left) ++row.left;
    if (outcome.last == 'd') ++row.done;
    if (outcome.last == 'e') ++row.error;
    if (outcome.status != 0) ++row.status[outcome.status];
    if (!outcome.left && !outcome.cut) row.ms.push_back(static_cast<float>(outcome.ms()));
    if (!outcome.wrong.empty()) return wrong(fmt::format("{}: {}", kNames[kind], outcome.wrong));
    if (outcome.left || outcome.cut) return;
    if (!expected(kind, outcome)) wrong(fmt::format("{}: status {}", kNames[kind], outcome.status));
    if (kind == canned && outcome.last == 'e') wrong("canned: an error event");
    if (outcome.status == 503 && !outcome.retry_after)
      wrong(fmt::format("{}: 503 without Retry-After", kNames[kind]));
    if (outcome.last != 'd' || outcome.session.empty() || kind == canned) return;
    if (sessions_.size() < 200)
      sessions_.push_back(outcome.session);
    else
      sessions_[static_cast<size_t>(below(200))] = outcome.session;
  }

  // A request that needs a model server may fail with it before the first event.
  static bool expected(Kind kind, const Outcome& outcome) {
    if (outcome.status == 200) return true;
    if (kind == profile && outcome.status == 404) return true;  // an unknown visitor
    if (kind == canned || kind == profile || kind == metrics) return false;
    return outcome.status == 502 || outcome.status == 503 || outcome.status == 504;
  }

  void look_after(int64_t now) {
    if (now < next_look_) return;
    next_look_ = now + 1000000;
    if (!serve_->running())
      throw std::runtime_error("stoka has ended: " + environment_.log("serve"));
    rss_.push_back(static_cast<double>(serve_->memory_kb("VmRSS")) / 1024);
    // The pace of the answers changes every 10 s: at once, fast, and like a model.
    static constexpr std::array kIntervals = {0, 2000, 20000};
    const auto second = static_cast<size_t>((now - start_) / 1000000);
    environment_.board().interval_us = kIntervals[second / 10 % kIntervals.size()];
    if (second / 60 == minute_) return;
    minute_ = second / 60;
    int64_t count = 0;
    for (const Row& row : rows_) count += row.count;
    fmt::print("minute {}: {} requests, {} faults, {:.1f} MB, {} kinds of errors\n", minute_, count,
               environment_.board().faults.load(), rss_.back(), wrong_.size());
  }

  // The sum of a metric over its labels; nullopt if the metric is missing.
  static std::optional<double> metric(const std::string& text, const std::string& name) {
    std::optional<double> out;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      if (line.starts_with(name + " ") || line.starts_with(name + "{"))
        out = out.value_or(0) + std::stod(line.substr(line.rfind(' ') + 1));
      at = end + 1;
    }
    return out;
  }

  // Waits, because the turns of visitors who disconnected are committed a moment later.
  void check_rest() {
    std::optional<double> open, taken;
    for (int attempt = 0; attempt < 100; ++attempt) {
      std::string text;
      bool asked = false;
      Client client({port_, 1, 10, 0});
      client.run(
          [&]() -> std::optional<Job> {
            if (std::exchange(asked, true)) return std::nullopt;
            Job job;
            job.bytes = request("GET", "/metrics");
            job.keep_body = true;
            return job;
          },
          [&](const Outcome& outcome) { text = outcome.body; });
      open = metric(text, "stoka_open_streams");
      taken = metric(text, "stoka_gate_taken");
      if (open == 0 && taken == 0 && environment_.board().open == 0) break;
      ::usleep(200000);
    }
    if (!open) wrong("/metrics has no stoka_open_streams");
    if (!taken) wrong("/metrics has no stoka_gate_taken");
    if (open.value_or(0) != 0) wrong(fmt::format("{} streams open at the end", *open));
    if (taken.value_or(0) != 0) wrong(fmt::format("{} permits taken at the end", *taken));
    if (environment_.board().open != 0)
      wrong(fmt::format("{} streams of the upstream open at the end",
                        environment_.board().open.load()));
  }

  static double mean(const std::vector<double>& values, double from, double to) {
    const auto at = [&](double share) {
      return values.begin() + static_cast<long>(share * static_cast<double>(values.size()));
    };
    if (at(from) == at(to)) return 0;
    return std::accumulate(at(from), at(to), 0.0) / static_cast<double>(at(to) - at(from));
  }

  void check_memory() {
    middle_ = mean(rss_, 0.4, 0.6);
    last_ = mean(rss_, 0.8, 1);
    if (last_ > middle_ * 1.1 + options_.rss_slack_mb)
      wrong(fmt::format("memory grows: {:.1f} MB in the middle, {:.1f} MB at the end", middle_,
                        last_));
  }

  void check_log() {
    std::ifstream file(environment_.folder() / "serve.log");
    int shown = 0;
    for (std::string line; std::getline(file, line);) {
      const bool report = line.find("Sanitizer") != line.npos ||
                          line.find("runtime error:") != line.npos ||
                          line.find("terminate called") != line.npos;
      if (report) wrong("the log has a sanitizer report or an exception");
      if ((report || shown > 0) && shown++ < 60) fmt::print("{}\n", line);
    }
  }

  void wrong(const std::string& what) {
    if (wrong_[what]++ == 0)
      fmt::print("WRONG after {} s: {}\n", (now_us() - start_) / 1000000, what);
  }

  void print(double seconds) {
    const Board& board = environment_.board();
    fmt::print("\n{:.0f} s, {} connections\n{:<10} {:>8} {:>8} {:>7} {:>7} {:>9} {:>9}  statuses\n",
               seconds, options_.connections, "kind", "count", "done", "error", "left", "p50 ms",
               "p99 ms");
    for (size_t kind = 0; kind < kKinds; ++kind) {
      Row& row = rows_[kind];
      std::string statuses;
      for (const auto& [status, count] : row.status)
        statuses += fmt::format(" {}: {}", status, count);
      fmt::print("{:<10} {:>8} {:>8} {:>7} {:>7} {:>9.2f} {:>9.2f} {}\n", kNames[kind], row.count,
                 row.done, row.error, row.left, percentile(row.ms, 0.5), percentile(row.ms, 0.99),
                 statuses);
    }
    fmt::print(
        "upstream: {} embeds, {} reranks, {} chats; {} faults, {} streams closed early, {} "
        "finished\n",
        board.embeds.load(), board.reranks.load(), board.chats.load(), board.faults.load(),
        board.left.load(), board.finished.load());
    fmt::print("memory: {:.1f} MB in the middle, {:.1f} MB at the end\n", middle_, last_);
    if (wrong_.empty()) fmt::print("nothing wrong\n");
    for (const auto& [what, count] : wrong_) fmt::print("WRONG {} times: {}\n", count, what);
  }

  int below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }

  const Options options_;
  BenchEnvironment environment_;
  std::unique_ptr<Process> serve_;
  uint16_t port_ = 0;
  int64_t start_ = 0, end_ = 0, next_look_ = 0;
  size_t minute_ = 0;
  std::mt19937 random_{17};
  std::array<Row, kKinds> rows_;
  std::vector<std::string> sessions_;
  std::vector<double> rss_;
  double middle_ = 0, last_ = 0;
  std::map<std::string, int64_t> wrong_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.stoka = stoka_beside(argv[0]);
  bool understood = argc % 2 == 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const std::string value = argv[i + 1];
    if (flag == "--stoka")
      options.stoka = value;
    else if (flag == "--minutes")
      options.minutes = std::atof(value.c_str());
    else if (flag == "--connections")
      options.connections = std::atoi(value.c_str());
    else if (flag == "--rss-slack")
      options.rss_slack_mb = std::atof(value.c_str());
    else
      understood = false;
  }
  if (!understood || options.minutes <= 0 || options.connections <= 0) {
    fmt::print(stderr,
               "bench_soak [--stoka PATH] [--minutes M] [--connections C] [--rss-slack MB]\n");
    return 2;
  }
  catch_interrupts();
  raise_file_limit();
  setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    return Soak(options).run() ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_soak: {}\n", error.what());
    return 1;
  }
}
