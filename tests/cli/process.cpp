#include "process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace stoka::test {
namespace {

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read = ends[0], write = ends[1];
  }
};

// Writes the input and reads both outputs until all pipes are closed.
void transfer_data(int in, int out, int err, std::string_view input, RunResult& ran) {
  fcntl(in, F_SETFL, O_NONBLOCK);
  if (input.empty()) ::close(in), in = -1;
  while (out >= 0 || err >= 0) {
    pollfd polled[3] = {{in, POLLOUT, 0}, {out, POLLIN, 0}, {err, POLLIN, 0}};
    if (::poll(polled, 3, 60'000) <= 0) FAIL("the program did not end within 60 s");
    if (in >= 0 && polled[0].revents) {
      ssize_t n = ::write(in, input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<size_t>(n));
      if (n < 0 || input.empty()) ::close(in), in = -1;
    }
    auto drain = [](int& fd, short events, std::string& into) {
      if (fd < 0 || !events) return;
      char buffer[4096];
      ssize_t n = ::read(fd, buffer, sizeof buffer);
      if (n > 0)
        into.append(buffer, static_cast<size_t>(n));
      else
        ::close(fd), fd = -1;
    };
    drain(out, polled[1].revents, ran.out);
    drain(err, polled[2].revents, ran.err);
  }
  if (in >= 0) ::close(in);
}

}  // namespace

Machine::Machine() {
  environment_ = {{"HOME", home().string()},
                  {"PATH", "/usr/bin:/bin"},
                  {"LC_ALL", "C.UTF-8"},
                  {"stoka", STOKA_BINARY}};
  std::signal(SIGPIPE, SIG_IGN);
}

RunResult Machine::stoka(std::vector<std::string> arguments, const std::string& input,
                         const char* out_file) const {
  arguments.insert(arguments.begin(), STOKA_BINARY);
  return run(std::move(arguments), input, out_file);
}

RunResult Machine::shell(const std::string& script) const {
  return run({"/bin/sh", "-c", script}, "", nullptr);
}

RunResult Machine::run(std::vector<std::string> arguments, const std::string& input,
                       const char* out_file) const {
  std::vector<char*> argv, envp;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment_) variables.push_back(name + "=" + value);
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);

  Pipe in, out, err;
  RunResult ran;
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(in.read, 0), ::dup2(out.write, 1), ::dup2(err.write, 2);
    if (out_file) ::dup2(::open(out_file, O_WRONLY), 1);
    if (::chdir(home().c_str()) == 0) ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(in.read), ::close(out.write), ::close(err.write);
  transfer_data(in.write, out.read, err.read, input, ran);
  int status = 0;
  ::waitpid(child, &status, 0);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

bool Machine::has_settings() const {
  return std::filesystem::exists(home() / ".config") ||
         std::any_of(environment_.begin(), environment_.end(),
                     [](const auto& variable) { return variable.first.starts_with("STOKA_"); });
}

// Indexing takes seconds with sanitizers. Without settings it always makes the same database, so
// that is copied.
void Machine::index_sample() const {
  static const Machine* indexed = nullptr;
  if (indexed && !has_settings()) {
    std::filesystem::create_directories(database().parent_path());
    std::filesystem::copy_file(indexed->database(), database());
    return;
  }
  RunResult ran = stoka({"index", "--quiet", STOKA_SOURCE_DIR "/evals/site"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  if (has_settings()) return;
  static const Machine keeper;
  std::filesystem::create_directories(keeper.database().parent_path());
  std::filesystem::copy_file(database(), keeper.database());
  indexed = &keeper;
}

}  // namespace stoka::test
