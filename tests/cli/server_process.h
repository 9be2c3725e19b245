// `stoka serve` as a child process.
#pragma once

#include <filesystem>
#include <string>

#include "machine.h"
#include "support/process.h"

namespace stoka::testing {

std::string read_text(const std::filesystem::path& file);

// Runs `stoka serve` until the end of the scope.
class ServerProcess {
 public:
  explicit ServerProcess(Machine& machine, const std::string& chat_limit = "0");
  ~ServerProcess();

  const std::string& url() const { return url_; }

 private:
  const std::filesystem::path log_;
  Process process_;
  std::string url_;
};

}  // namespace stoka::testing
