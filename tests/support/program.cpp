#include "support/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "support/temp_folder.h"

namespace stoka::testing {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry; ++entry)
    if (!std::string_view(*entry).starts_with("PG")) out.emplace_back(*entry);
  return out;
}

pid_t spawn(std::vector<std::string> command, int in, int out, int err, bool own_session) {
  std::vector<std::string> variables = environment();
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, 0);
  posix_spawn_file_actions_adddup2(&files, out, 1);
  posix_spawn_file_actions_adddup2(&files, err, 2);
  // Another user may have no access to the folder of the tests.
  posix_spawn_file_actions_addchdir_np(&files, "/");
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, own_session ? POSIX_SPAWN_SETSID : short{0});
  pid_t pid = -1;
  int failed = ::posix_spawnp(&pid, command[0].c_str(), &files, &attributes,
                              pointers(command).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed) throw std::runtime_error(command[0] + ": " + std::strerror(failed));
  return pid;
}

struct File {
  int fd;
  File(const std::filesystem::path& path, int flags)
      : fd(::open(path.c_str(), flags | O_CLOEXEC | O_CREAT, 0600)) {
    if (fd < 0) throw std::runtime_error("cannot open " + path.string());
  }
  ~File() { ::close(fd); }
  File(const File&) = delete;
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& command, const std::string& input) {
  const TempFolder folder;
  const File in(folder.write("in", input), O_RDONLY), out(folder / "out", O_WRONLY),
      err(folder / "err", O_WRONLY);
  const pid_t pid = spawn(command, in.fd, out.fd, err.fd, false);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          contents(folder / "out"), contents(folder / "err")};
}

Program::Program(const std::vector<std::string>& command, const std::filesystem::path& log)
    : owner_(::getpid()) {
  const File out(log, O_WRONLY | O_APPEND);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error("cannot create a socket pair");
  input_ = ends[1];
  try {
    pid_ = spawn(command, ends[0], out.fd, out.fd, true);
  } catch (...) {
    ::close(ends[0]), ::close(ends[1]);
    throw;
  }
  ::close(ends[0]);
}

Program::~Program() {
  ::close(input_);
  if (::getpid() != owner_) return;  // this is a fork of the test
  if (wait(std::chrono::seconds(10))) return;
  signal(SIGKILL);
  wait(std::chrono::seconds(10));
}

bool Program::running() { return !wait(std::chrono::milliseconds(0)); }

bool Program::wait(std::chrono::milliseconds timeout) {
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

void Program::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

void Program::write(const std::string& line) const {
  const std::string text = line + "\n";
  if (::send(input_, text.data(), text.size(), MSG_NOSIGNAL) < 0)
    throw std::runtime_error("cannot write to a program that has exited");
}

}  // namespace stoka::testing
