#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace stoka::testing {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> variables(const ProcessOptions& options) {
  std::vector<std::string> out;
  if (options.environment) {
    for (const auto& [name, value] : *options.environment) out.push_back(name + "=" + value);
    return out;
  }
  for (char** entry = environ; *entry; ++entry)
    if (!std::string_view(*entry).starts_with("PG")) out.emplace_back(*entry);
  return out;
}

pid_t spawn(std::vector<std::string> command, const ProcessOptions& options, int in, int out,
            int err, bool own_session) {
  std::vector<std::string> environment = variables(options);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, 0);
  posix_spawn_file_actions_adddup2(&files, out, 1);
  posix_spawn_file_actions_adddup2(&files, err, 2);
  posix_spawn_file_actions_addchdir_np(&files, options.folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, own_session ? POSIX_SPAWN_SETSID : short{0});
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, command[0].c_str(), &files, &attributes,
                                    pointers(command).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed) throw std::runtime_error(command[0] + ": " + std::strerror(failed));
  return pid;
}

Descriptor open_file(const std::filesystem::path& path, int flags) {
  Descriptor out(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!out) throw std::runtime_error("cannot open " + path.string());
  return out;
}

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot create a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// A file in memory with that text, which is read from its start.
Descriptor input_file(std::string_view text) {
  Descriptor file(::memfd_create("input", MFD_CLOEXEC));
  while (file && !text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written <= 0) file.close();
    text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
  if (!file || ::lseek(file.get(), 0, SEEK_SET) != 0)
    throw std::runtime_error("cannot write the input of a program");
  return file;
}

// Reads both outputs to their ends; false if nothing comes for ten minutes.
bool read_outputs(Descriptor out, Descriptor err, ProcessResult& result) {
  while (out || err) {
    pollfd polled[2] = {{out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}};
    if (::poll(polled, 2, 600'000) <= 0) return false;
    const auto drain = [](Descriptor& from, short events, std::string& into) {
      if (!from || events == 0) return;
      char buffer[16384];
      const ssize_t got = ::read(from.get(), buffer, sizeof buffer);
      if (got > 0)
        into.append(buffer, static_cast<size_t>(got));
      else
        from.close();
    };
    drain(out, polled[0].revents, result.out);
    drain(err, polled[1].revents, result.err);
  }
  return true;
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const std::filesystem::path& log,
                 const ProcessOptions& options)
    : owner_(::getpid()) {
  const Descriptor out = open_file(log, O_WRONLY | O_APPEND | O_CREAT);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error("cannot create a socket pair");
  const Descriptor theirs(ends[0]);
  input_ = Descriptor(ends[1]);
  pid_ = spawn(command, options, theirs.get(), out.get(), out.get(), true);
}

Process::~Process() {
  input_.close();
  if (::getpid() != owner_) return;  // this is a fork of the test
  if (wait(std::chrono::seconds(10))) return;
  signal(SIGKILL);
  wait(std::chrono::seconds(10));
}

bool Process::running() { return !wait(std::chrono::milliseconds(0)); }

bool Process::wait(std::chrono::milliseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  while (pid_ > 0) {
    const pid_t ended = ::waitpid(pid_, nullptr, WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) {
      pid_ = -1;
    } else if (std::chrono::steady_clock::now() >= until) {
      return false;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return true;
}

void Process::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

void Process::write(const std::string& line) const {
  if (!send_all(input_.get(), line + "\n"))
    throw std::runtime_error("cannot write to a program that has exited");
}

ProcessResult run_process(const std::vector<std::string>& command, const std::string& input,
                          const ProcessOptions& options, const std::filesystem::path& out_file) {
  Pipe out = make_pipe(), err = make_pipe();
  const Descriptor in = input_file(input);
  if (!out_file.empty()) out.write = open_file(out_file, O_WRONLY);
  const pid_t pid = spawn(command, options, in.get(), out.write.get(), err.write.get(), false);
  out.write.close();
  err.write.close();
  ProcessResult result;
  const bool ended = read_outputs(std::move(out.read), std::move(err.read), result);
  if (!ended) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) throw std::runtime_error(command[0] + " did not end: " + result.err);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace stoka::testing
