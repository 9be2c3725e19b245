#include "api_key.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/files.h"

namespace stoka::app {
namespace {

constexpr size_t kMostBytes = 64 << 10;

std::string first_line(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return std::string(text);
}

// A shell expands "~/", a file of settings does not.
std::string in_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home ? home + path.substr(1) : path;
}

Result<std::string> output_of(const std::string& setting, const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "re");
  if (!pipe)
    return fail(ErrorKind::config, fmt::format("{} cannot be run", setting), "is sh there?");
  std::string out;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    if (out.size() < kMostBytes) out.append(buffer, n);
  int status = ::pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(ErrorKind::config, fmt::format("{} failed", setting), "run it by hand to see why");
  return out;
}

}  // namespace

Result<ApiKey> read_api_key(const Config& config, const std::string& role) {
  std::string key = role + ".api_key", file = key + "_file", command = key + "_command";
  int given =
      !config.text(key).empty() + !config.text(file).empty() + !config.text(command).empty();
  if (given > 1)
    return fail(ErrorKind::config,
                fmt::format("{0}, {0}_file and {0}_command: several are set", key),
                "keep one of them");
  if (given == 0) return ApiKey();
  std::string text = config.text(key), from = key;
  if (!config.text(file).empty()) {
    std::string path = in_home(config.text(file));
    auto read = read_file(path, kMostBytes);
    // What is no path may be the key itself, set in the wrong place.
    if (!read && path.find('/') == std::string::npos)
      return fail(ErrorKind::config, fmt::format("{} names no file that can be read", file),
                  fmt::format("is it the key itself? Then set {}", key));
    if (!read)
      return fail(ErrorKind::config, file + ": " + read.error().message, read.error().hint);
    text = std::move(*read);
    from = file;
  } else if (!config.text(command).empty()) {
    STOKA_ASSIGN(text, output_of(command, config.text(command)));
    from = command;
  }
  text = first_line(text);
  bool printable =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > 32 && c < 127; });
  if (text.empty() || !printable)
    return fail(
        ErrorKind::config,
        fmt::format("{} gives {}", from,
                    text.empty() ? "an empty key" : "no key: it has spaces or other signs in it"),
        "the first line must be the key and nothing else");
  return ApiKey{Secret(std::move(text)), from};
}

}  // namespace stoka::app
