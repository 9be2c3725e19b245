#include "app.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/files.h"
#include "base/suggestion.h"
#include "golden/directory.h"
#include "settings.h"
#include "terminal/answer_printer.h"
#include "text/normalize.h"

namespace stoka::app {
namespace {

constexpr uint64_t kMaxConfigBytes = 1 << 20;

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

// The XDG base directory specification requires that a relative path in the variable is ignored.
std::filesystem::path xdg(const char* variable, const char* below_home) {
  std::optional<std::string> base = environment(variable);
  if (base && base->starts_with('/')) return std::filesystem::path(*base) / "stoka";
  std::string home = environment("HOME").value_or("");
  if (!home.starts_with('/')) {
    const passwd* user = getpwuid(getuid());
    home = user ? user->pw_dir : "/";
  }
  return std::filesystem::path(home) / below_home / "stoka";
}

}  // namespace

void StderrLog::write(LogLevel level, std::string_view message) {
  if (target_ != nullptr) return target_->write(level, message);
  if (level == LogLevel::warning ? common_.quiet : !common_.verbose) return;
  print_stderr(fmt::format("stoka: {}{}\n", level == LogLevel::warning ? "warning: " : "",
                           text::one_line(message)));
}

App::App() : config_(settings()) {}

std::filesystem::path App::data_dir() { return xdg("XDG_DATA_HOME", ".local/share"); }
std::filesystem::path App::state_dir() { return xdg("XDG_STATE_HOME", ".local/state"); }
std::filesystem::path App::config_dir() { return xdg("XDG_CONFIG_HOME", ".config"); }

void App::warn_of_unknown_variables() {
  std::vector<std::string> known;
  for (const Setting& setting : config_.settings()) known.push_back(setting.env);
  for (char** variable = environ; variable && *variable; ++variable) {
    std::string_view text = *variable;
    std::string name(text.substr(0, text.find('=')));
    // Variables that begin with STOKA_TEST_ belong to the test suite and are no settings.
    if (!name.starts_with("STOKA_") || name.starts_with("STOKA_TEST_")) continue;
    if (std::find(known.begin(), known.end(), name) == known.end())
      log.warning(fmt::format("{} is not a setting{}", name, did_you_mean(name, known)));
  }
}

Result<> App::load_config() {
  std::filesystem::path file = common.config_file;
  if (file.empty()) {
    file = config_dir() / "config.toml";
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) file.clear();
  }
  if (!file.empty()) {
    auto source = read_file(file, kMaxConfigBytes);
    if (!source) return fail(ErrorKind::config, source.error().message, source.error().hint);
    STOKA_TRY(config_.load_file(*source, file.string()));
  }
  STOKA_TRY(config_.load_environment(environment));
  warn_of_unknown_variables();
  if (!common.store.empty()) STOKA_TRY(config_.set_flag("store", common.store));
  if (!common.record.empty()) STOKA_TRY(config_.set_flag("net.record", common.record));
  if (!common.replay.empty()) STOKA_TRY(config_.set_flag("net.replay", common.replay));
  return {};
}

std::string App::store_url() const {
  const std::string& configured = config_.text("store");
  return configured.empty() ? "sqlite:" + (data_dir() / "stoka.db").string() : configured;
}

Result<std::unique_ptr<store::Store>> App::open_store(store::OpenMode mode) const {
  return open_store(store_url(), mode);
}

Result<std::unique_ptr<store::Store>> App::open_store(const std::string& url,
                                                      store::OpenMode mode) const {
  return store::open(url, mode,
                     {.connections = static_cast<size_t>(config_.integer("database.connections"))});
}

Result<golden::Golden> App::load_golden() const {
  const std::string& dir = config_.text("golden.dir");
  if (dir.empty()) return golden::load();
  return golden::load_directory(dir, "copy golden/ there, or unset golden.dir (STOKA_GOLDEN_DIR)");
}

terminal::Capabilities App::capabilities(int fd) const {
  auto get = [](const char* name) { return environment(name).value_or(""); };
  terminal::Environment env;
  env.term = get("TERM");
  env.no_color = get("NO_COLOR");
  env.colorterm = get("COLORTERM");
  env.clicolor_force = get("CLICOLOR_FORCE");
  env.force_color = get("FORCE_COLOR");
  env.columns = get("COLUMNS");
  env.lc_all = get("LC_ALL");
  env.lc_ctype = get("LC_CTYPE");
  env.lang = get("LANG");
  env.term_program = get("TERM_PROGRAM");
  env.term_program_version = get("TERM_PROGRAM_VERSION");
  env.vte_version = get("VTE_VERSION");
  env.kitty_window_id = get("KITTY_WINDOW_ID");
  env.konsole_version = get("KONSOLE_VERSION");
  env.wt_session = get("WT_SESSION");
  std::optional<int> columns;
  winsize size{};
  bool tty = isatty(fd) == 1;
  if (tty && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) columns = size.ws_col;
  terminal::ColorMode mode = common.color == "always"  ? terminal::ColorMode::always
                             : common.color == "never" ? terminal::ColorMode::never
                                                       : terminal::ColorMode::automatic;
  return terminal::detect(env, tty, columns, mode);
}

int App::report(const Error& error) const {
  if (common.json) {
    print_stderr(fmt::format("{}\n", terminal::json_line(error)));
  } else {
    std::string hint = text::one_line(error.hint);
    std::string message = text::one_line(error.message);
    std::string_view joint = hint.empty() ? "" : message.ends_with('?') ? " " : ". ";
    print_stderr(fmt::format("stoka: {}{}{}\n", message, joint, hint));
  }
  return exit_code(error.kind);
}

namespace {

int first_output_error = 0;

// Writes all of the text; returns 0, or the errno of the failure.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

}  // namespace

void print(std::string_view text) {
  if (first_output_error == 0) first_output_error = write_all(STDOUT_FILENO, text);
}

int output_error() { return first_output_error; }

std::string sanitize_lines(std::string_view untrusted) {
  std::string out;
  while (!untrusted.empty()) {
    size_t end = std::min(untrusted.find('\n'), untrusted.size());
    out += terminal::sanitize_line(untrusted.substr(0, end)) + "\n";
    untrusted.remove_prefix(std::min(end + 1, untrusted.size()));
  }
  return out;
}

void print_stderr(std::string_view text) { write_all(STDERR_FILENO, text); }

}  // namespace stoka::app
