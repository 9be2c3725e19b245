// Finds the source files in a directory tree.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::ingest {

struct SourceFile {
  std::filesystem::path path;  // the normalised path of the file; begins with the given path
  // The path below the folder of the site, if a generator's configuration file marks that folder,
  // otherwise below the folder that was given: "blog/a.md". The file name if a file was given.
  std::filesystem::path relative;
  std::string root;  // name of the folder that was given, "site"; empty if the site is known
};

// The reason for skipping a page that its author has not published yet.
inline constexpr std::string_view kDraftReason = "draft";

enum class SkipKind {
  unreadable,   // the contents cannot be read; what is indexed of the source stays
  unpublished,  // the author hides it from readers; what is indexed of the source is removed
  unsupported,  // the file has no source format
};

struct SkippedSource {
  std::string path;    // the path as valid UTF-8
  std::string reason;  // the reason in lower case, without a full stop
  SkipKind kind = SkipKind::unreadable;
  bool is_partial =
      false;  // only a part of the file was skipped; the reason begins with which part
};

struct WalkResult {
  std::vector<SourceFile> files;       // sorted by path, without duplicates
  std::vector<SkippedSource> skipped;  // all other files except hidden ones
};

// ingest/source_format.h says which files are sources; other files are skipped as unsupported.
// Hidden files and folders and node_modules are ignored without a report unless given themselves.
// Folders called _drafts (kDraftReason) and sources whose name begins with _, except _index.*, are
// skipped unless they or files in them are given. Symbolic links are followed to files inside the
// tree, never to folders. A path that does not exist is a data error.
Result<WalkResult> walk(std::span<const std::filesystem::path> paths);

// Converts a path to valid UTF-8 without control characters, to be shown to people.
std::string display_path(const std::filesystem::path& path);

}  // namespace stoka::ingest
