// `stoka serve` as a child process, and a server that is not stoka.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "net/raw_server.h"
#include "process.h"
#include "support/program.h"

namespace stoka::test {

inline std::string read_text(const std::filesystem::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

// Runs `stoka serve` until the end of the scope.
class ServerProcess {
 public:
  explicit ServerProcess(Machine& machine, const std::string& chat_limit = "0")
      : log_(machine.home() / "serve.log"), program_(command(machine, chat_limit), log_) {
    constexpr std::string_view kMark = "listening on ";
    for (int i = 0; i < 600; ++i) {
      const std::string said = read_text(log_);
      if (const size_t at = said.find(kMark); at != std::string::npos) {
        const size_t start = at + kMark.size();
        url_ = said.substr(start, said.find("/\"", start) - start);
        return;
      }
      if (!program_.running()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL(read_text(log_));
  }
  ~ServerProcess() {
    program_.signal(SIGTERM);
    program_.wait(std::chrono::seconds(10));
  }

  const std::string& url() const { return url_; }

 private:
  static std::vector<std::string> command(Machine& machine, const std::string& chat_limit) {
    std::vector<std::string> out = {"/usr/bin/env", "-i"};
    for (const auto& [name, value] : machine.environment()) out.push_back(name + "=" + value);
    out.push_back("STOKA_CHAT_LIMIT=" + chat_limit);
    for (const char* word : {STOKA_BINARY, "serve", "--port", "0"}) out.emplace_back(word);
    return out;
  }

  const std::filesystem::path log_;
  testing::Program program_;
  std::string url_;
};

// Answers the first request of each connection with a fixed text, and then closes the connection.
class CannedServer : public testing::SilentServer {
 public:
  explicit CannedServer(std::string answer) : answer_(std::move(answer)) {
    thread_ = std::jthread([this] { serve(); });
  }
  ~CannedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
  }

 private:
  void serve() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      char bytes[4096];
      if (::recv(fd, bytes, sizeof bytes, 0) > 0) {
        ::send(fd, answer_.data(), answer_.size(), MSG_NOSIGNAL);
        ::shutdown(fd, SHUT_WR);
        while (::recv(fd, bytes, sizeof bytes, 0) > 0) continue;
      }
      ::close(fd);
    }
  }

  const std::string answer_;
  std::jthread thread_;
};

}  // namespace stoka::test
