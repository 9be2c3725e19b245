// Everything that all commands share: the common flags, the configuration, and the output of
// results and errors.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/result.h"
#include "golden/golden.h"
#include "store/open.h"
#include "terminal/style.h"

namespace stoka::app {

// The flags that every command accepts.
struct CommonFlags {
  std::string config_file;
  std::string store;
  std::string record;
  std::string replay;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  std::string color = "auto";
};

// Writes each log message as one sanitized line to stderr.
class StderrLog final : public Log {
 public:
  explicit StderrLog(const CommonFlags& common) : common_(common) {}
  void write(LogLevel level, std::string_view message) override;
  // Sends all messages to another log; null restores stderr. Must be called while no other thread
  // writes, because it is not thread safe.
  void redirect(Log* log) { target_ = log; }

 private:
  const CommonFlags& common_;
  Log* target_ = nullptr;  // the log to write to; null for stderr
};

class App {
 public:
  App();

  CommonFlags common;
  SystemClock clock;
  RandomUuidSource ids;
  StderrLog log{common};

  // Reads the config file and the environment, and applies the common flags. Warns of each STOKA_
  // variable that is not a setting. Must be called once, before a command runs.
  Result<> load_config();
  const Config& config() const { return config_; }
  // Overrides the value of a setting, as a flag of the command line does.
  Result<> set(std::string_view key, std::string value) {
    return config_.set_flag(key, std::move(value));
  }
  // The URL of the store: the configured one, or that of the SQLite file in the data directory.
  std::string store_url() const;
  Result<std::unique_ptr<store::Store>> open_store(store::OpenMode mode) const;
  // Opens the store at another URL, with the connection settings of the configured store.
  Result<std::unique_ptr<store::Store>> open_store(const std::string& url,
                                                   store::OpenMode mode) const;
  Result<golden::Golden> load_golden() const;

  terminal::Capabilities capabilities(int fd) const;

  // Prints an error to stderr, as one JSON object with --json, and returns its exit code.
  int report(const Error& error) const;

  static std::filesystem::path data_dir();    // $XDG_DATA_HOME/stoka
  static std::filesystem::path state_dir();   // $XDG_STATE_HOME/stoka
  static std::filesystem::path config_dir();  // $XDG_CONFIG_HOME/stoka

 private:
  void warn_of_unknown_variables();

  Config config_;
};

// Writes to stdout. After a failed write, print() writes nothing more and reports no error, so that
// a turn is saved even if the reader of the output is gone; output_error() returns the failure.
void print(std::string_view text);
// The errno of the first failed write to stdout, or 0. EPIPE means that the reader closed the pipe.
int output_error();

// Sanitizes each line of an untrusted text for a terminal, and ends each with a line break.
std::string sanitize_lines(std::string_view untrusted);

// Writes the text to stderr; ignores failures.
void print_stderr(std::string_view text);

}  // namespace stoka::app
