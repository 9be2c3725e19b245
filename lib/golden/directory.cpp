#include "golden/directory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/embedded.h"
#include "base/files.h"
#include "base/suggestion.h"

namespace stoka::golden {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxBytes = 1 << 20;

std::vector<std::string> golden_file_names() {
  std::vector<std::string> out;
  for (const EmbeddedFile& file : embedded::golden()) out.emplace_back(file.name);
  return out;
}

bool is_ignored(std::string_view name) {
  for (std::string_view start : {".", "README", "LICENSE", "CHANGELOG"})
    if (name.starts_with(start)) return true;
  for (std::string_view end : {"~", ".swp", ".bak", ".orig", ".rej", ".tmp"})
    if (name.ends_with(end)) return true;
  return name.starts_with('#') && name.ends_with('#');
}

// Returns the sorted names in the directory. Subdirectories are left out, unless they have the name
// of a golden file: reading that will fail with a clear message.
Result<std::vector<std::string>> file_names(const fs::path& directory,
                                            const std::vector<std::string>& golden_names,
                                            std::string_view hint) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (!fs::exists(status))
    return fail(ErrorKind::config,
                fmt::format("golden directory {} {}", directory.string(),
                            status.type() == fs::file_type::not_found
                                ? "does not exist"
                                : "cannot be read: " + error.message()),
                std::string(hint));
  if (!fs::is_directory(status))
    return fail(ErrorKind::config,
                fmt::format("golden directory {} is not a directory", directory.string()),
                std::string(hint));
  std::vector<std::string> out;
  fs::directory_iterator at(directory, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::string name = at->path().filename().string();
    std::error_code ignored;
    const bool is_golden =
        std::find(golden_names.begin(), golden_names.end(), name) != golden_names.end();
    if (is_golden || !at->is_directory(ignored)) out.push_back(std::move(name));
  }
  if (error)
    return fail(
        ErrorKind::config,
        fmt::format("golden directory {} cannot be read: {}", directory.string(), error.message()),
        std::string(hint));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Result<Golden> load_directory(const fs::path& directory, std::string_view hint) {
  const std::vector<std::string> known = golden_file_names();
  STOKA_ASSIGN(const std::vector<std::string> names, file_names(directory, known, hint));
  std::map<std::string, std::string, std::less<>> texts;
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      auto text = read_file(directory / name, kMaxBytes);
      if (!text) return fail(ErrorKind::config, text.error().message, text.error().hint);
      texts.emplace(name, std::move(*text));
    } else if (!is_ignored(name)) {
      return fail(ErrorKind::config,
                  fmt::format("{}: no golden file has that name{}", (directory / name).string(),
                              did_you_mean(name, known)),
                  fmt::format("rename or move it; the files are {}", fmt::join(known, ", ")));
    }
  }
  if (texts.empty())
    return fail(ErrorKind::config,
                fmt::format("golden directory {} holds no golden file", directory.string()),
                std::string(hint));
  return load([&](std::string_view name) -> Result<std::optional<std::string>> {
    const auto found = texts.find(name);
    return found == texts.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace stoka::golden
