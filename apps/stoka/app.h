// What every command shares: the common flags, the layered configuration, and how results and
// errors leave the program.
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

namespace CLI {
class App;
}

namespace stoka::app {

// Flags that every command takes.
struct Common {
  std::string config_file;
  std::string store;
  std::string record;
  std::string replay;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  std::string color = "auto";
};

// Warnings and notes on stderr, one line each, cleaned.
class StderrLog final : public Log {
 public:
  explicit StderrLog(const Common& common) : common_(common) {}
  void write(Level level, std::string_view message) override;
  // From now on all goes there; null: to stderr again. Before other threads write.
  void redirect(Log* log) { elsewhere_ = log; }

 private:
  const Common& common_;
  Log* elsewhere_ = nullptr;
};

class App {
 public:
  App();

  Common common;
  SystemClock clock;
  RandomIds ids;
  StderrLog log{common};

  // Reads config file and environment; flags are applied on top. A STOKA_ variable that is no
  // setting gets a warning. Called once, before a command runs.
  Result<> load_config();
  const Config& config() const { return config_; }
  // A flag of a command that is a setting.
  Result<> set(std::string_view key, std::string value) {
    return config_.set_flag(key, std::move(value));
  }
  // The store's URL: as configured, else the database under the data directory.
  std::string store_url() const;
  Result<std::unique_ptr<store::Store>> open_store(store::OpenMode mode) const;
  // Any store, with the settings of the configured one.
  Result<std::unique_ptr<store::Store>> open_store(const std::string& url,
                                                   store::OpenMode mode) const;
  Result<golden::Golden> load_golden() const;

  terminal::Capabilities capabilities(int fd) const;

  // Reports an error on stderr (one object with --json) and returns its exit code.
  int report(const Error& error) const;

  static std::filesystem::path data_dir();    // $XDG_DATA_HOME/stoka
  static std::filesystem::path state_dir();   // $XDG_STATE_HOME/stoka
  static std::filesystem::path config_dir();  // $XDG_CONFIG_HOME/stoka

 private:
  void warn_of_unknown_variables();

  Config config_;
};

// Writes to stdout. What cannot be written is remembered and not tried again, so that a turn whose
// reader went away is still saved; the program's end reports it (see output_error).
void print(std::string_view text);
// errno of the first failed write to stdout; 0: none. EPIPE is a reader that had enough.
int output_error();

// Untrusted text of several lines, each cleaned for a terminal and ended.
std::string clean_lines(std::string_view untrusted);

// Writes to stderr; never fails.
void print_error(std::string_view text);

}  // namespace stoka::app
