// Runs the stoka binary and captures its output.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace stoka::test {

struct RunResult {
  int code = -1;
  std::string out;
  std::string err;
};

// A user's machine: a temporary home folder and an otherwise empty environment.
class Machine {
 public:
  Machine();

  const std::filesystem::path& home() const { return home_.path; }
  std::filesystem::path database() const { return home_.path / ".local/share/stoka/stoka.db"; }
  std::map<std::string, std::string>& environment() { return environment_; }
  void write(const std::string& file, const std::string& text) const { home_.write(file, text); }

  // Runs stoka. If `out` is given, standard output goes to this file and is not captured.
  RunResult stoka(std::vector<std::string> arguments, const std::string& input = "",
                  const char* out = nullptr) const;
  // Runs a shell script, in which $stoka is the binary.
  RunResult shell(const std::string& script) const;
  // Indexes the sample site.
  void index_sample() const;

 private:
  bool has_settings() const;  // true if there are settings other than the defaults
  RunResult run(std::vector<std::string> arguments, const std::string& input,
                const char* out) const;

  testing::TempFolder home_;
  std::map<std::string, std::string> environment_;
};

}  // namespace stoka::test
