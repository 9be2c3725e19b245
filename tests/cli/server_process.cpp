#include "server_process.h"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace stoka::testing {
namespace {

ProcessOptions serve_options(const Machine& machine, const std::string& chat_limit) {
  ProcessOptions out = machine.options();
  (*out.environment)["STOKA_CHAT_LIMIT"] = chat_limit;
  return out;
}

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

ServerProcess::ServerProcess(Machine& machine, const std::string& chat_limit)
    : log_(machine.home() / "serve.log"),
      process_({STOKA_BINARY, "serve", "--port", "0"}, log_, serve_options(machine, chat_limit)) {
  constexpr std::string_view kMark = "listening on ";
  for (int i = 0; i < 600; ++i) {
    const std::string said = read_text(log_);
    if (const size_t at = said.find(kMark); at != std::string::npos) {
      const size_t start = at + kMark.size();
      url_ = said.substr(start, said.find("/\"", start) - start);
      return;
    }
    if (!process_.running()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  FAIL(read_text(log_));
}

ServerProcess::~ServerProcess() {
  process_.signal(SIGTERM);
  process_.wait(std::chrono::seconds(10));
}

}  // namespace stoka::testing
