// Measures cold starts, each in a process of its own: an index run over 1,000 documents of 5 KB,
// and commands on an index of about 1,000 chunks. Usage: bench_cold PATH_OF_STOKA
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Cost {
  double ms = 0;
  double mb = 0;  // peak resident set size
};

Cost run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  auto start = std::chrono::steady_clock::now();
  pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fmt::print(stderr, "{} failed\n", words[0]);
    exit(1);
  }
  return {took.count(), static_cast<double>(usage.ru_maxrss) / 1024};
}

Cost median(const std::vector<std::string>& words) {
  std::vector<Cost> costs;
  for (int i = 0; i < 21; ++i) costs.push_back(run(words));
  std::sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) { return a.ms < b.ms; });
  return costs[costs.size() / 2];
}

// Writes pages of about 5 KB in sections, of 20,000 synthetic words that follow Zipf's law.
void write_site(const fs::path& root, int pages) {
  std::mt19937 random(7);
  std::vector<double> weights;
  for (int i = 1; i <= 20000; ++i) weights.push_back(1.0 / i);
  std::discrete_distribution<int> pick(weights.begin(), weights.end());
  for (int page = 0; page < pages; ++page) {
    std::string text = fmt::format("# Page {} about w{}\n\n", page, pick(random));
    for (int words = 0; text.size() < 5000; ++words) {
      text += fmt::format("w{}{}", pick(random), words % 12 == 11 ? ". " : " ");
      if (words % 150 == 149) text += fmt::format("\n\n## Part w{}\n\n", pick(random));
    }
    std::ofstream(root / fmt::format("page-{}.md", page)) << text;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench_cold PATH_OF_STOKA\n");
    return 2;
  }
  std::string stoka = argv[1];
  fs::path folder = fs::temp_directory_path() / fmt::format("stoka-bench-{}", getpid());
  fs::create_directories(folder / "site");
  fs::create_directories(folder / "small");
  write_site(folder / "site", 1000);
  write_site(folder / "small", 200);
  setenv("HOME", folder.c_str(), 1);
  unsetenv("XDG_DATA_HOME");

  Cost nothing = median({"/bin/true"});
  Cost read = run({"/bin/sh", "-c", "cat " + (folder / "site").string() + "/*.md"});
  Cost index = run({stoka, "index", "--quiet", (folder / "site").string()});
  Cost again = run({stoka, "index", "--quiet", (folder / "site").string()});
  fmt::print("{:<36} {:>9} {:>7} {:>8}\n", "", "ms", "MB", "ratio");
  auto row = [](const std::string& what, Cost cost, Cost base, const std::string& of) {
    fmt::print("{:<36} {:>9.1f} {:>7.1f} {:>7.1f}x of {}\n", what, cost.ms, cost.mb,
               cost.ms / base.ms, of);
  };
  row("index 1,000 documents of 5 KB", index, read, "cat");
  row("the same again, nothing changed", again, read, "cat");
  run({stoka, "index", "--quiet", "--prune", (folder / "small").string()});
  row("route hi", median({stoka, "route", "hi"}), nothing, "/bin/true");
  row("rerank, cold", median({stoka, "rerank", "tell me about w17 and w230"}), nothing,
      "/bin/true");
  row("chat, cold", median({stoka, "chat", "tell me about w17 and w230"}), nothing, "/bin/true");
  fs::remove_all(folder);
  return 0;
}
