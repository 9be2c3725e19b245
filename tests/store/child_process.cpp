#include "store/child_process.h"

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace stoka::testing {

std::string run_in_child(const std::function<std::string()>& work) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    close(ends[0]);
    const std::string answer = work();
    const bool written = write(ends[1], answer.data(), answer.size()) >= 0;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string answer;
  char buffer[512];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<size_t>(size));
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  return answer;
}

std::string run_as_nobody(const std::function<std::string()>& work) {
  return run_in_child([&]() -> std::string {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) return "cannot switch";
    return work();
  });
}

void limit_file_size(uint64_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit = {bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

ChildProcess::ChildProcess(const std::function<void()>& work) : pid_(fork()) {
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    // The child is killed if the test program crashes.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    work();
    _exit(0);
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) kill();
}

void ChildProcess::kill() {
  const pid_t pid = std::exchange(pid_, -1);
  ::kill(pid, SIGKILL);
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFSIGNALED(status));
}

}  // namespace stoka::testing
