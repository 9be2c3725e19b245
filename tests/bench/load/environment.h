// The environment of a server benchmark in a temporary folder: an upstream, a site of synthetic
// pages with its index, `stoka serve` and nginx. The destructor stops all processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>

#include "bench/load/board.h"
#include "bench/load/process.h"
#include "support/temp_folder.h"

namespace stoka::load {

class BenchEnvironment {
 public:
  explicit BenchEnvironment(std::string stoka);  // path of the stoka program
  ~BenchEnvironment();

  Board& board() { return board_; }
  uint16_t upstream_port() const { return upstream_port_; }
  Process& upstream() { return *upstream_; }
  const std::filesystem::path& folder() const { return folder_.path; }

  // These throw with the end of the log if the program fails.
  void index(bool models);
  // With model servers, or with the built-in parts. `more` overrides the other variables.
  std::unique_ptr<Process> serve(bool models, uint16_t port, const Variables& more = {});
  std::unique_ptr<Process> nginx(uint16_t port);
  std::string log(const std::string& name) const;  // "serve", "index", "nginx"

 private:
  Variables variables(bool models) const;
  void wait_for(Process& process, uint16_t port, const std::string& name);

  testing::TempFolder folder_;
  std::string stoka_;
  Board& board_;
  uint16_t upstream_port_ = 0;
  std::unique_ptr<Process> upstream_;
  bool site_ = false;
};

// A random question whose words are in the pages.
std::string question(std::mt19937& random);
std::string chat_body(const std::string& query, const std::string& session = "");

// The path of the stoka program of the same build as this benchmark.
std::string stoka_beside(const char* self);

}  // namespace stoka::load
