#include "ingest/source_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "ingest/corpus.h"
#include "ingest/markdown_page.h"
#include "ingest/products.h"
#include "text/normalize.h"

namespace stoka::ingest {
namespace {

// Joins names with commas and, before the last name, the conjunction: "a, b or c".
std::string enumeration(const std::vector<std::string_view>& names, std::string_view conjunction) {
  return fmt::format("{} {} {}", fmt::join(names.begin(), names.end() - 1, ", "), conjunction,
                     names.back());
}

}  // namespace

std::span<const SourceFormat> source_formats() {
  // JSON files other than products.json are usually data of the site and not content.
  static const std::vector<SourceFormat> kFormats = {
      {"markdown",
       {".md", ".markdown", ".mdx"},
       InFolder::all,
       "markdown",
       16 << 20,
       read_markdown},
      {"products.json", {".json"}, InFolder::named, "JSON", 16 << 20, read_products},
      {"corpus.jsonl", {".jsonl", ".ndjson"}, InFolder::none, "JSON", 512 << 20, read_corpus},
  };
  return kFormats;
}

const SourceFormat* find_format(const std::filesystem::path& path) {
  const std::string extension = to_lower(path.extension().string());
  for (const SourceFormat& format : source_formats())
    if (std::find(format.extensions.begin(), format.extensions.end(), extension) !=
        format.extensions.end())
      return &format;
  return nullptr;
}

bool is_source_in_folder(const std::filesystem::path& path) {
  const SourceFormat* format = find_format(path);
  if (format == nullptr || format->in_folder == InFolder::none) return false;
  return format->in_folder == InFolder::all || path.filename() == format->name;
}

std::string unsupported_reason() {
  std::vector<std::string_view> names;
  for (const SourceFormat& format : source_formats())
    names.push_back(format.in_folder == InFolder::all ? format.name
                                                      : format.extensions.front().substr(1));
  return "not " + enumeration(names, "or");
}

std::string unsupported_in_folder_reason(const std::filesystem::path& path) {
  if (const SourceFormat* format = find_format(path))
    return fmt::format("{} data of the site; give the file itself to index it", format->syntax);
  std::vector<std::string_view> names;
  for (const SourceFormat& format : source_formats())
    if (format.in_folder != InFolder::none) names.push_back(format.name);
  return "neither " + enumeration(names, "nor");
}

std::string format_names() {
  std::string out;
  for (const SourceFormat& format : source_formats())
    out.append(out.empty() ? "" : ", ").append(format.name);
  return out;
}

std::optional<std::string> read_text(const SourceBytes& source,
                                     std::string_view control_replacement, RepairReport& repairs,
                                     LoadedFile& out) {
  const auto skip = [&](std::string reason) {
    out.skipped.push_back({display_path(source.file.path), std::move(reason)});
    return std::nullopt;
  };
  const std::optional<std::string> decoded = convert_to_utf8(source.bytes, repairs);
  std::optional<std::string> text = repair_text(decoded ? std::string_view(*decoded) : source.bytes,
                                                control_replacement, repairs);
  if (!text) return skip("binary, not text");
  if (text::collapse_whitespace(std::string_view(*text).substr(0, 4096)).empty() &&
      text::collapse_whitespace(*text).empty())
    return skip("empty");
  return text;
}

}  // namespace stoka::ingest
