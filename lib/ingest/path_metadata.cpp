#include "ingest/path_metadata.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/url.h"
#include "ingest/slug.h"
#include "text/normalize.h"

namespace stoka::ingest {
namespace {

struct FolderType {
  std::string_view folder, type;
};
constexpr auto kFolderTypes = std::to_array<FolderType>({
    {"articles", "blog"},
    {"blog", "blog"},
    {"changelog", "changelog"},
    {"changelogs", "changelog"},
    {"patch-notes", "changelog"},
    {"patchnotes", "changelog"},
    {"philosophy", "philosophy"},
    {"post", "blog"},
    {"posts", "blog"},
    {"product", "product"},
    {"products", "product"},
    {"release-notes", "changelog"},
    {"releases", "changelog"},
    {"writing", "blog"},
});
// Folders that contain a site's content but do not appear in its URLs.
constexpr auto kContentRoots =
    std::to_array<std::string_view>({"_drafts", "_pages", "_posts", "content", "src"});

std::string_view folder_type(std::string_view folder) {
  std::string name = slugify(folder);
  for (const FolderType& known : kFolderTypes)
    if (known.folder == name) return known.type;
  return {};
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_ascii_digit);
}

// The date in three consecutive folders: 2024/01/31.
std::optional<Date> folder_date(const std::vector<std::string>& folders) {
  for (size_t i = folders.size(); i >= 3; --i) {
    if (folders[i - 3].size() != 4 || !is_digits(folders[i - 3]) || !is_digits(folders[i - 2]) ||
        !is_digits(folders[i - 1]))
      continue;
    if (auto date = parse_date(folders[i - 3] + "-" + folders[i - 2] + "-" + folders[i - 1]))
      return date;
  }
  return std::nullopt;
}

// Removes "2024-01-31-" or "2024-01-31_" from the front of a name and returns the date. A name that
// is nothing but a date stays.
std::optional<Date> take_date(std::string& stem) {
  constexpr size_t kDate = 10;
  if (stem.size() < kDate || stem[4] != '-' || stem[7] != '-') return std::nullopt;
  auto date = parse_date(stem.substr(0, kDate));
  if (!date) return std::nullopt;
  size_t rest = std::min(stem.find_first_not_of("-_ ", kDate), stem.size());
  if (rest < stem.size()) stem.erase(0, rest);
  return date;
}

// Makes a title of a name: "bounded_execution-2" becomes "Bounded execution 2".
std::string title_of(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (c == '-' || c == '_' || c == '.') c = ' ';
  out = text::collapse_whitespace(out);
  if (!out.empty()) out[0] = to_upper(out[0]);
  return out;
}

std::vector<std::string> folders_of(const SourceFile& file) {
  std::vector<std::string> out;
  if (!folder_type(file.root).empty()) out.push_back(file.root);
  bool outermost = out.empty();
  for (const auto& part : file.relative.parent_path()) {
    std::string name = display_path(part);
    bool root = std::find(kContentRoots.begin(), kContentRoots.end(), name) != kContentRoots.end();
    bool pages = outermost && name == "pages";
    outermost = outermost && root;
    if (!root && !pages && !name.empty() && name != ".") out.push_back(name);
  }
  return out;
}

std::vector<std::string> split_path(std::string_view permalink) {
  permalink = split_url(permalink).path;
  std::vector<std::string> out;
  while (!permalink.empty()) {
    size_t end = std::min(permalink.find('/'), permalink.size());
    if (end > 0) out.emplace_back(permalink.substr(0, end));
    permalink.remove_prefix(std::min(end + 1, permalink.size()));
  }
  return out;
}

}  // namespace

PathMetadata path_metadata(const SourceFile& file) {
  PathMetadata out;
  out.folders = folders_of(file);
  std::string stem = display_path(file.relative.stem());
  out.date = take_date(stem);
  if (!out.date) out.date = folder_date(out.folders);
  for (const std::string& folder : out.folders)
    if (auto type = folder_type(folder); !type.empty()) out.type = type;

  std::string first = text::fold(stem.substr(0, stem.find('.')));
  out.is_index = first == "index" || first == "_index" || first == "readme";
  if (out.is_index) {
    std::string folder = out.folders.empty() ? "home" : out.folders.back();
    // A file called "index.fr" is the French page of its folder.
    out.slug = slugify(folder + stem.substr(std::min(stem.find('.'), stem.size())));
    out.title = title_of(folder);
  } else {
    out.slug = slugify(stem);
    out.title = title_of(stem);
  }
  return out;
}

std::string default_url(const PathMetadata& metadata, std::string_view slug) {
  std::string out;
  for (const std::string& folder : metadata.folders) out += "/" + slugify(folder, "._~");
  if (!metadata.is_index) out += "/" + std::string(slug);
  return out.empty() ? "/" : out;
}

std::string permalink_slug(std::string_view permalink) {
  std::vector<std::string> parts = split_path(permalink);
  if (parts.empty() || parts.back().find_first_of(":{") != std::string::npos) return {};
  std::string_view last = parts.back();
  if (last.ends_with(".html")) last.remove_suffix(5);
  if (last == "index" && parts.size() > 1) last = parts[parts.size() - 2];
  return slugify(last, "._~");
}

std::optional<Date> permalink_date(std::string_view permalink) {
  return folder_date(split_path(permalink));
}

}  // namespace stoka::ingest
