// Runs the stoka binary on a machine of its own.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/temp_folder.h"

namespace stoka::testing {

// A user's machine: a temporary home folder and an otherwise empty environment.
class Machine {
 public:
  Machine();

  const std::filesystem::path& home() const { return home_.path; }
  std::filesystem::path database() const { return home_.path / ".local/share/stoka/stoka.db"; }
  std::map<std::string, std::string>& environment() { return environment_; }
  void write(const std::string& file, const std::string& text) const { home_.write(file, text); }

  // Runs stoka. If `out` is given, standard output goes to this file and is not captured.
  ProcessResult stoka(std::vector<std::string> arguments, const std::string& input = "",
                      const char* out = nullptr) const;
  // Runs a shell script, in which $stoka is the binary.
  ProcessResult shell(const std::string& script) const;
  // Indexes the sample site.
  void index_sample() const;
  // How a process of this machine is started.
  ProcessOptions options() const { return {environment_, home()}; }

 private:
  bool has_settings() const;  // true if there are settings other than the defaults

  TempFolder home_;
  std::map<std::string, std::string> environment_;
};

}  // namespace stoka::testing
