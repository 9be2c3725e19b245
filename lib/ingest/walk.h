// Which files of a tree are sources.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::ingest {

enum class SourceKind {
  markdown,
  products,  // one JSON text of products
  corpus,    // one JSON document a line
};

struct SourceFile {
  std::filesystem::path path;  // the argument with what lies below it, normalised
  // Below the folder of the site, where one is known by the configuration of its generator, else
  // below the folder that was named: "blog/a.md"; the file name if a file was.
  std::filesystem::path relative;
  std::string root;  // name of the folder that was named, "site"; empty where the site is known
  SourceKind kind = SourceKind::markdown;
};

// Why a page is left out that its author has not published yet.
inline constexpr std::string_view kDraft = "draft";

enum class SkipKind {
  unreadable,   // what it holds is not known; what it gave before stays indexed
  unpublished,  // its author keeps it from readers; what it gave before is removed
  unsupported,  // no source
};

struct Skipped {
  std::string path;    // valid UTF-8
  std::string reason;  // lower case, no full stop
  SkipKind kind = SkipKind::unreadable;
  bool part = false;  // of the file only: the reason begins with which
};

struct Walk {
  std::vector<SourceFile> files;  // by path, each file once however often it was named
  std::vector<Skipped> skipped;   // every other file, but for hidden ones
};

// Markdown (.md, .markdown, .mdx), files called products.json, and any .json (products), .jsonl or
// .ndjson (a corpus) that is named itself. Other files are skipped (unsupported). Hidden files and
// folders and node_modules are passed over without a word unless named; folders called _drafts
// (kDraft) and sources whose name begins with _, but for _index.*, are skipped unless they, or what
// lies in them, are named. Links are followed to files inside the tree only, never to folders. A
// path that does not exist is a data error.
Result<Walk> walk(std::span<const std::filesystem::path> paths);

// A path as people may see it.
std::string display_path(const std::filesystem::path& path);

}  // namespace stoka::ingest
