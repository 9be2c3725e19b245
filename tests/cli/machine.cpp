#include "machine.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

namespace stoka::testing {

Machine::Machine() {
  environment_ = {{"HOME", home().string()},
                  {"PATH", "/usr/bin:/bin"},
                  {"LC_ALL", "C.UTF-8"},
                  {"stoka", STOKA_BINARY}};
  // Programs inherit this, so that they see the error of a closed pipe.
  std::signal(SIGPIPE, SIG_IGN);
}

ProcessResult Machine::stoka(std::vector<std::string> arguments, const std::string& input,
                             const char* out) const {
  arguments.insert(arguments.begin(), STOKA_BINARY);
  return run_process(arguments, input, options(), out ? out : "");
}

ProcessResult Machine::shell(const std::string& script) const {
  return run_process({"/bin/sh", "-c", script}, "", options());
}

bool Machine::has_settings() const {
  return std::filesystem::exists(home() / ".config") ||
         std::any_of(environment_.begin(), environment_.end(),
                     [](const auto& variable) { return variable.first.starts_with("STOKA_"); });
}

// Indexing takes seconds with sanitizers. Without settings it always makes the same database, so
// that is copied.
void Machine::index_sample() const {
  static const Machine* indexed = nullptr;
  if (indexed && !has_settings()) {
    std::filesystem::create_directories(database().parent_path());
    std::filesystem::copy_file(indexed->database(), database());
    return;
  }
  ProcessResult ran = stoka({"index", "--quiet", STOKA_SOURCE_DIR "/evals/site"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  if (has_settings()) return;
  static const Machine keeper;
  std::filesystem::create_directories(keeper.database().parent_path());
  std::filesystem::copy_file(database(), keeper.database());
  indexed = &keeper;
}

}  // namespace stoka::testing
