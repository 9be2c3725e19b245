// Runs the real program and hears what it says.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/temp_folder.h"

namespace stoka::test {

struct Ran {
  int code = -1;
  std::string out;
  std::string err;
};

// One person's machine: a home of its own and nothing else in the environment.
class Machine {
 public:
  Machine();

  const std::filesystem::path& home() const { return home_.path; }
  std::filesystem::path database() const { return home_.path / ".local/share/stoka/stoka.db"; }
  std::map<std::string, std::string>& environment() { return environment_; }
  void write(const std::string& file, const std::string& text) const { home_.write(file, text); }

  // `out`: a file for standard output instead of what is heard.
  Ran stoka(std::vector<std::string> arguments, const std::string& input = "",
            const char* out = nullptr) const;
  // Runs a script of the shell, to which the program is $stoka. The exit code is the script's.
  Ran shell(const std::string& script) const;
  // Indexes the sample site.
  void index_sample() const;

 private:
  bool has_settings() const;  // other than the defaults
  Ran run(std::vector<std::string> arguments, const std::string& input, const char* out) const;

  testing::TempFolder home_;
  std::map<std::string, std::string> environment_;
};

}  // namespace stoka::test
