#include "ingest/loader.h"

#include <fmt/format.h>

#include "base/files.h"
#include "ingest/source_format.h"
#include "text/normalize.h"

namespace stoka::ingest {
namespace {

// A control character that is written as a character reference or an escape appears only after
// parsing, so the parsed text is cleaned again. Returns how many were found.
size_t remove_controls(LoadedFile& out) {
  size_t found = 0;
  const auto clean = [&](std::string& text) { text = text::replace_controls(text, {}, &found); };
  for (Page& page : out.pages) {
    Document& document = page.document;
    for (std::string* field : {&document.slug, &document.title, &document.type, &document.url,
                               &document.description, &document.author})
      clean(*field);
    if (document.title.empty()) document.title = document.slug;
    for (std::string& tag : document.tags) clean(tag);
    std::erase(document.tags, "");
    for (Block& block : page.blocks) clean(block.text);
    std::erase_if(page.blocks, [](const Block& block) { return block.text.empty(); });
  }
  for (std::string& warning : out.warnings) warning = text::replace_controls(warning);
  for (SkippedSource& skipped : out.left_out)
    skipped.reason = text::replace_controls(skipped.reason);
  for (SkippedSource& skipped : out.skipped)
    skipped.reason = text::replace_controls(skipped.reason);
  return found;
}

LoadedFile skipped_file(const SourceFile& file, std::string reason, SkipKind kind) {
  LoadedFile out;
  out.skipped.push_back({display_path(file.path), std::move(reason), kind});
  return out;
}

LoadedFile read_as(const SourceFormat& format, const SourceFile& file, std::string_view bytes,
                   std::string_view chunk_options) {
  RepairReport repairs;
  LoadedFile out = format.read({file, bytes, chunk_options}, repairs);
  repairs.control_characters += remove_controls(out);
  for (const std::string& what : repairs.describe())
    out.warnings.push_back(fmt::format("{}: {}", display_path(file.path), what));
  return out;
}

}  // namespace

LoadedFile load_bytes(const SourceFile& file, std::string_view bytes,
                      std::string_view chunk_options) {
  const SourceFormat* format = find_format(file.path);
  if (format == nullptr) return skipped_file(file, unsupported_reason(), SkipKind::unsupported);
  return read_as(*format, file, bytes, chunk_options);
}

LoadedFile load(const SourceFile& file, std::string_view chunk_options) {
  const SourceFormat* format = find_format(file.path);
  if (format == nullptr) return skipped_file(file, unsupported_reason(), SkipKind::unsupported);
  auto bytes = read_file(file.path, format->max_bytes);
  if (bytes) return read_as(*format, file, *bytes, chunk_options);
  std::error_code error;
  auto size = std::filesystem::file_size(file.path, error);
  bool is_large = !error && size > format->max_bytes;
  std::string reason =
      is_large ? fmt::format("larger than {} MB", format->max_bytes >> 20) : bytes.error().message;
  return skipped_file(file, std::move(reason), SkipKind::unreadable);
}

}  // namespace stoka::ingest
