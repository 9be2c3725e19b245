// What a benchmark of the server stands on: an upstream, a site of made-up pages and its index,
// `stoka serve`, nginx. In a folder of its own; everything ends with it.
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

class House {
 public:
  explicit House(std::string stoka);  // path of the program
  ~House();

  Board& board() { return board_; }
  uint16_t upstream_port() const { return upstream_port_; }
  Process& upstream() { return *upstream_; }
  const std::filesystem::path& folder() const { return folder_.path; }

  // Throw when the program fails, with the end of its log.
  void index(bool models);
  // With model servers, or on the embedded default. `more` beats what is set.
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

// A question whose words are in the pages, another one each time.
std::string question(std::mt19937& random);
std::string chat_body(const std::string& query, const std::string& session = "");

// The program that was built beside this benchmark.
std::string stoka_beside(const char* self);

}  // namespace stoka::load
