// Measures an evaluation of sixty cases: bench_eval STOKA [PROMPTFOO]. STOKA is the path of the
// program, PROMPTFOO that of promptfoo (npm), which runs sixty echo tests without retrieval, model
// or network for comparison. Prints the best and the median total time of five runs of each, and
// their ratio. Without PROMPTFOO, the ratio is to the 2.7 s that sixty echo tests took on another
// machine.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <vector>

#include "../support/process.h"

namespace {

namespace fs = std::filesystem;
using stoka::testing::ProcessResult;
using stoka::testing::run_process;

constexpr int kCases = 60;
constexpr int kRuns = 5;
constexpr double kPromptfooSeconds = 2.7;  // on another machine

struct Times {
  double best = 0;
  double median = 0;
};

Times measure(const char* what, const std::vector<std::string>& command, int most_code) {
  std::vector<double> seconds;
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const ProcessResult ran = run_process(command);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (ran.code > most_code) {
      fmt::print(stderr, "bench_eval: {} exits {}\n{}{}", what, ran.code, ran.out, ran.err);
      std::exit(1);
    }
  }
  std::sort(seconds.begin(), seconds.end());
  const Times out{seconds.front(), seconds[kRuns / 2]};
  fmt::print("{:<10} best {:.3f} s, median {:.3f} s\n", what, out.best, out.median);
  return out;
}

// Writes the first sixty cases of the dataset.
void write_cases(const fs::path& file) {
  std::ifstream in(fs::path(STOKA_SOURCE_DIR) / "evals/dataset.jsonl");
  std::ofstream out(file);
  std::string line;
  for (int i = 0; i < kCases && std::getline(in, line); ++i) out << line << "\n";
}

void write_echoes(const fs::path& file) {
  std::ofstream out(file);
  out << "prompts: ['{{query}}']\nproviders: [echo]\ntests:\n";
  for (int i = 0; i < kCases; ++i)
    out << fmt::format(
        "  - vars: {{query: 'question {0}'}}\n    assert: [{{type: contains, value: 'question "
        "{0}'}}]\n",
        i);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_eval STOKA [PROMPTFOO]\n");
    return 2;
  }
  const fs::path scratch = fs::temp_directory_path() / fmt::format("stoka-bench-eval-{}", getpid());
  fs::create_directories(scratch);
  write_cases(scratch / "cases.jsonl");
  const std::string site = (fs::path(STOKA_SOURCE_DIR) / "evals/site").string();
  fmt::print("{} cases, indexing the site included, whole program\n", kCases);
  // Exit code 1 means that a case failed, which does not matter here.
  const Times ours = measure("stoka",
                             {fs::absolute(argv[1]), "eval", "dataset", "--cases",
                              scratch / "cases.jsonl", "--site", site},
                             1);
  if (argc > 2) {
    write_echoes(scratch / "echo.yaml");
    ::setenv("PROMPTFOO_DISABLE_TELEMETRY", "1", 1);
    ::setenv("PROMPTFOO_DISABLE_UPDATE", "1", 1);
    ::setenv("PROMPTFOO_CONFIG_DIR", scratch.c_str(), 1);
    const Times theirs = measure("promptfoo",
                                 {fs::absolute(argv[2]), "eval", "-c", scratch / "echo.yaml",
                                  "--no-cache", "--no-progress-bar", "--no-table", "--no-write"},
                                 0);
    fmt::print("ratio      best {:.1f}, median {:.1f}\n", theirs.best / ours.best,
               theirs.median / ours.median);
  } else {
    fmt::print(
        "ratio      {:.1f} (to {} s for sixty echoes by promptfoo, measured on another machine)\n",
        kPromptfooSeconds / ours.median, kPromptfooSeconds);
  }
  fs::remove_all(scratch);
  return 0;
}
