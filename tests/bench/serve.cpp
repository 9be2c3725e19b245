// Measures `stoka serve`, compared with nginx relaying the same model server in the same run.
//
//   bench_serve [--stoka PATH] [PART…]     parts: cpu turn paced canned leave; default: all
//
// The whole pipeline runs on 1,000 chunks: embedding (1,024 dimensions) and reranking over HTTP,
// and an answer of 60 tokens with 4 citations. CPU time is that of the server process alone. nginx
// only relays the answer to the same prompt that stoka sends. Targets: less than 0.25 ms CPU a
// stream; a turn within 0.6 ms of the bare calls; 1,000 streams with a p95 within 5 % of that of
// nginx and under 64 MB; 20,000 canned answers a second; the upstream stream of a visitor who left
// closed within 100 ms.
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <set>
#include <thread>

#include "bench/load/client.h"
#include "bench/load/environment.h"

using namespace stoka;
using namespace stoka::load;

namespace {

constexpr int64_t kInterval = 20000;  // us between the tokens of a paced answer
const std::string kChat = "/api/stoka/chat";
const std::string kModel = "/v1/chat/completions";

// Counts the outcomes, and the wrong ones by problem.
class Tally {
 public:
  void add(const Outcome& outcome, int wanted = 200) {
    if (!outcome.wrong.empty())
      ++wrong_[outcome.wrong];
    else if (outcome.status != wanted)
      ++wrong_[fmt::format("status {}", outcome.status)];
    else if (outcome.last == 'e')
      ++wrong_["an error event"];
    tokens_ += outcome.tokens;
    cites_ += outcome.cites;
    ++count_;
  }
  void print() const {
    for (const auto& [what, count] : wrong_) fmt::print("  WRONG {} times: {}\n", count, what);
  }
  bool good() const { return wrong_.empty(); }
  double tokens() const { return static_cast<double>(tokens_) / std::max(1, count_); }
  double cites() const { return static_cast<double>(cites_) / std::max(1, count_); }

 private:
  std::map<std::string, int> wrong_;
  int64_t tokens_ = 0, cites_ = 0;
  int count_ = 0;
};

double own_cpu_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double cores() { return static_cast<double>(std::thread::hardware_concurrency()); }

class Bench {
 public:
  explicit Bench(const std::string& stoka) : environment_(stoka) {}

  bool run(const std::set<std::string>& parts) {
    const auto wanted = [&](const char* part) { return parts.empty() || parts.contains(part); };
    if (wanted("cpu") || wanted("turn") || wanted("paced") || wanted("leave")) {
      environment_.index(true);
      stoka_port_ = free_port();
      stoka_ = environment_.serve(true, stoka_port_);
      nginx_port_ = free_port();
      nginx_ = environment_.nginx(nginx_port_);
      warm_up();
      if (wanted("cpu")) cpu();
      if (wanted("turn")) turn();
      if (wanted("paced")) paced();
      if (wanted("leave")) leave();
      close(stoka_, "stoka");
      close(nginx_, "nginx");
    }
    if (wanted("canned")) canned();
    return good_;
  }

 private:
  Job ask() {
    Job out;
    out.form = Job::Form::turn;
    out.bytes = request("POST", kChat, chat_body(question(random_)));
    return out;
  }
  Job relay() {
    Job out;
    out.form = Job::Form::relay;
    out.bytes = prompt_;
    return out;
  }

  // Runs `count` jobs on `connections` connections and passes each outcome to `done`.
  template <class Make>
  Pace drive(uint16_t port, int connections, int count, const Make& make, const Client::Done& done,
             int paced_from = 0) {
    Client client({port, connections, 60, paced_from});
    int sent = 0;
    client.run(
        [&]() -> std::optional<Job> {
          if (sent == count) return std::nullopt;
          ++sent;
          return make();
        },
        done);
    return std::move(client.pace());
  }

  void judge(const Tally& tally) {
    tally.print();
    good_ = good_ && tally.good();
  }

  void warm_up() {
    Tally tally;
    drive(
        stoka_port_, 16, 200, [&] { return ask(); }, [&](const Outcome& o) { tally.add(o); });
    prompt_ = request("POST", kModel, environment_.board().chat.get());
    Tally relayed;
    drive(
        nginx_port_, 16, 200, [&] { return relay(); }, [&](const Outcome& o) { relayed.add(o); });
    fmt::print(
        "an answer: {:.1f} token events and {:.1f} citations from {:.1f} deltas; its prompt "
        "has {} bytes\n",
        tally.tokens(), tally.cites(), relayed.tokens(), prompt_.size());
    judge(tally);
    judge(relayed);
  }

  template <class Make>
  double cpu_of(Process& process, uint16_t port, int streams, const Make& make) {
    Tally tally;
    const double before = process.cpu_ms();
    drive(port, 64, streams, make, [&](const Outcome& o) { tally.add(o); });
    const double out = (process.cpu_ms() - before) / streams;
    judge(tally);
    return out;
  }

  void cpu() {
    constexpr int kRounds = 5, kStreams = 2000;
    std::vector<double> nginx, stoka;
    for (int round = 0; round < kRounds; ++round) {
      nginx.push_back(cpu_of(*nginx_, nginx_port_, kStreams, [&] { return relay(); }));
      stoka.push_back(cpu_of(*stoka_, stoka_port_, kStreams, [&] { return ask(); }));
    }
    const double relayed = percentile(nginx, 0.5), answered = percentile(stoka, 0.5);
    fmt::print("\nCPU time a stream, 64 connections, {} streams, median of {}\n", kStreams,
               kRounds);
    fmt::print("  nginx, relay alone     {:>8.3f} ms\n", relayed);
    fmt::print("  stoka, whole pipeline  {:>8.3f} ms   {:.1f} x nginx   target: 0.25 ms\n",
               answered, answered / relayed);
  }

  // Alternates bare calls and whole turns, so that both run under the same conditions.
  void turn() {
    constexpr int kRounds = 10, kTurns = 50;
    const std::string embed = request("POST", "/embed", environment_.board().embed.get());
    const std::string rerank = request("POST", "/rerank", environment_.board().rerank.get());
    std::vector<double> bare, whole, first;
    Tally tally;
    for (int round = 0; round < kRounds; ++round) {
      int call = 0;
      double sum = 0;
      drive(
          environment_.upstream_port(), 1, 3 * kTurns,
          [&] {
            const int which = call++ % 3;
            if (which == 2) return relay();
            Job job;
            job.bytes = which == 0 ? embed : rerank;
            return job;
          },
          [&](const Outcome& o) {
            tally.add(o);
            sum += o.ms();
            if (o.form != Job::Form::relay) return;
            bare.push_back(sum);
            sum = 0;
          });
      drive(
          stoka_port_, 1, kTurns, [&] { return ask(); },
          [&](const Outcome& o) {
            tally.add(o);
            whole.push_back(o.ms());
            first.push_back(static_cast<double>(o.first_us - o.sent_us) / 1e3);
          });
    }
    const double a = percentile(bare, 0.5), b = percentile(whole, 0.5);
    fmt::print("\none connection, {} turns, ms          p50      p95\n", kRounds * kTurns);
    fmt::print("  three bare calls to the servers  {:>6.2f}   {:>6.2f}\n", a,
               percentile(bare, 0.95));
    fmt::print("  a turn of stoka, to its end      {:>6.2f}   {:>6.2f}\n", b,
               percentile(whole, 0.95));
    fmt::print("  to its first token               {:>6.2f}   {:>6.2f}\n", percentile(first, 0.5),
               percentile(first, 0.95));
    fmt::print("  stoka's share of the median {:.2f} ms, {:.2f} of a turn   target: 0.6 ms\n",
               b - a, (b - a) / b);
    judge(tally);
  }

  struct Paced {
    Pace pace;
    double upstream = 0, server = 0, client = 0;  // busy cores
  };

  template <class Make>
  Paced pace(Process* process, uint16_t port, const Make& make) {
    constexpr int kStreams = 1000;
    Paced out;
    Tally tally;
    const auto cpu = [&] {
      return std::array{environment_.upstream().cpu_ms(), process ? process->cpu_ms() : 0,
                        own_cpu_ms()};
    };
    const auto before = cpu();
    const int64_t start = now_us();
    out.pace = drive(
        port, kStreams, kStreams, make, [&](const Outcome& o) { tally.add(o); },
        kStreams * 95 / 100);
    const double ms = static_cast<double>(now_us() - start) / 1e3;
    const auto after = cpu();
    out.upstream = (after[0] - before[0]) / ms;
    out.server = (after[1] - before[1]) / ms;
    out.client = (after[2] - before[2]) / ms;
    judge(tally);
    return out;
  }

  void paced() {
    environment_.board().interval_us = kInterval;
    environment_.board().tokens = 600;
    Paced bare = pace(nullptr, environment_.upstream_port(), [&] { return relay(); });
    Paced nginx = pace(nginx_.get(), nginx_port_, [&] { return relay(); });
    Paced stoka = pace(stoka_.get(), stoka_port_, [&] { return ask(); });
    environment_.board().interval_us = 0;
    environment_.board().tokens = 60;
    fmt::print(
        "\n1,000 streams at once, a token each 20 ms   ms late: p50     p95     p99   gap: p50     "
        "p95     p99   tokens   cores: server  upstream  client\n");
    const auto row = [&](const char* what, Paced& paced) {
      fmt::print(
          "  {:<40} {:>12.2f} {:>7.2f} {:>7.2f} {:>10.2f} {:>7.2f} {:>7.2f} {:>8} {:>14.2f} "
          "{:>9.2f} {:>7.2f}\n",
          what, percentile(paced.pace.late, 0.5), percentile(paced.pace.late, 0.95),
          percentile(paced.pace.late, 0.99), percentile(paced.pace.gap, 0.5),
          percentile(paced.pace.gap, 0.95), percentile(paced.pace.gap, 0.99),
          paced.pace.late.size(), paced.server, paced.upstream, paced.client);
    };
    row("no server between", bare);
    row("nginx, relay alone", nginx);
    row("stoka, whole pipeline", stoka);
    fmt::print(
        "  stoka / nginx at the 95th percentile: gap {:.3f}   target: 1.05; lateness {:.2f}\n",
        percentile(stoka.pace.gap, 0.95) / percentile(nginx.pace.gap, 0.95),
        percentile(stoka.pace.late, 0.95) / percentile(nginx.pace.late, 0.95));
    fmt::print("  peak memory of stoka {:.1f} MB   target: 64\n",
               static_cast<double>(stoka_->memory_kb("VmHWM")) / 1024);
    if (nginx.upstream + nginx.client + nginx.server > 0.9 * cores() ||
        stoka.upstream + stoka.client + stoka.server > 0.9 * cores())
      fmt::print("  the machine was saturated: the lateness is the wait for a core\n");
  }

  // Visitors who disconnect during an answer; the upstream records when its stream is closed.
  void leave() {
    constexpr int kVisitors = 500;
    Board& board = environment_.board();
    board.interval_us = kInterval;
    int number = 0;
    std::vector<int64_t> left(kVisitors, 0);
    Tally tally;
    drive(
        stoka_port_, 100, kVisitors,
        [&] {
          Job job = ask();
          job.tag = number;
          job.bytes =
              request("POST", kChat,
                      chat_body(fmt::format("{}{:06} {}", kLeaver, number, question(random_))));
          job.leave_after = 2 + static_cast<int>(random_() % 30);
          job.reset = number++ % 2 == 0;
          return job;
        },
        [&](const Outcome& o) {
          tally.add(o);
          if (o.left) left[static_cast<size_t>(o.tag)] = o.end_us;
        });
    for (int64_t until = now_us() + 3000000; board.open > 0 && now_us() < until;) ::usleep(1000);
    board.interval_us = 0;
    std::vector<double> delays;
    int gone = 0;
    for (size_t i = 0; i < kVisitors; ++i) {
      gone += left[i] != 0;
      const int64_t closed = board.left_us[i];
      if (left[i] != 0 && closed != 0)
        delays.push_back(static_cast<double>(closed - left[i]) / 1e3);
    }
    const double latest = percentile(delays, 1);
    fmt::print("\n{} visitors disconnected: {} upstream streams closed, {} still open\n", gone,
               delays.size(), board.open.load());
    fmt::print("  ms later: p50 {:.2f}, p95 {:.2f}, last {:.2f}   target: 100\n",
               percentile(delays, 0.5), percentile(delays, 0.95), latest);
    good_ = good_ && static_cast<size_t>(gone) == delays.size() && board.open == 0;
    judge(tally);
  }

  void canned() {
    constexpr int kAnswers = 100000;
    environment_.index(false);
    const uint16_t port = free_port();
    auto stoka = environment_.serve(false, port);
    const std::string bytes = request("POST", kChat, R"({"query":"what is this?"})");
    const auto make = [&] {
      Job job;
      job.form = Job::Form::turn;
      job.bytes = bytes;
      return job;
    };
    Tally tally;
    std::vector<float> ms;
    const auto done = [&](const Outcome& o) {
      tally.add(o);
      ms.push_back(static_cast<float>(o.ms()));
    };
    drive(port, 1, 500, make, done);
    ms.clear();
    drive(port, 1, 2000, make, done);
    const double alone = percentile(ms, 0.5), alone_late = percentile(ms, 0.99);
    ms.clear();
    const double before = stoka->cpu_ms();
    const int64_t start = now_us();
    drive(port, 64, kAnswers, make, done);
    const double seconds = static_cast<double>(now_us() - start) / 1e6;
    const double cpu_us = (stoka->cpu_ms() - before) * 1e3 / kAnswers;
    fmt::print(
        "\ncanned answers, embedded default, 64 connections: {:.0f} a second   target: 20,000\n",
        kAnswers / seconds);
    fmt::print(
        "  CPU {:.1f} us each; ms p50 {:.2f}, p99 {:.2f}; on one connection p50 {:.3f}, p99 "
        "{:.3f}\n",
        cpu_us, percentile(ms, 0.5), percentile(ms, 0.99), alone, alone_late);
    judge(tally);
    close(stoka, "stoka");
  }

  void close(std::unique_ptr<Process>& process, const char* what) {
    const int code = process->end();
    if (code == 0) return;
    fmt::print("  WRONG {} ended with {}\n{}\n", what, code, environment_.log("serve"));
    good_ = false;
  }

  BenchEnvironment environment_;
  std::unique_ptr<Process> stoka_, nginx_;
  uint16_t stoka_port_ = 0, nginx_port_ = 0;
  std::string prompt_;
  std::mt19937 random_{11};
  bool good_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  const std::set<std::string> known = {"cpu", "turn", "paced", "canned", "leave"};
  std::string stoka = stoka_beside(argv[0]);
  std::set<std::string> parts;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--stoka" && i + 1 < argc) {
      stoka = argv[++i];
    } else if (known.contains(word)) {
      parts.insert(word);
    } else {
      fmt::print(stderr, "bench_serve [--stoka PATH] [cpu] [turn] [paced] [canned] [leave]\n");
      return 2;
    }
  }
  catch_interrupts();
  raise_file_limit();
  setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    return Bench(stoka).run(parts) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_serve: {}\n", error.what());
    return 1;
  }
}
