#include "ingest/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ingest/source_format.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::ingest {
namespace {

namespace fs = std::filesystem;

bool is_ignored(const fs::path& path) {
  std::string name = path.filename().string();
  return name.starts_with('.') || name == "node_modules";
}

// Site generators treat a leading _ as a partial or template, except for the page of a folder.
bool is_unpublished(const fs::path& path) {
  std::string name = path.filename().string();
  return name.starts_with('_') && !name.starts_with("_index.");
}

// Whether `path` is `folder` or below it.
bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

// The name of a folder: "blog" for "site/blog", for "site/blog/" and, in site/blog, for ".".
std::string folder_name(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::canonical(path, error);
  return display_path((error ? path.lexically_normal() : canonical).filename());
}

// Whether this folder has the configuration file of a site generator.
bool is_site(const fs::path& folder) {
  std::error_code error;
  for (std::string_view name :
       {"hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json", "_config.yml", "_config.yaml",
        "_config.toml", "astro.config.mjs", "astro.config.ts", "astro.config.mts",
        "astro.config.js", "astro.config.cjs"})
    if (fs::is_regular_file(folder / name, error)) return true;
  // Hugo and Zola use these names, but other programs do, too, so a content folder is required.
  for (std::string_view name : {"config.toml", "config.yaml", "config.yml"})
    if (fs::is_regular_file(folder / name, error) && fs::is_directory(folder / "content", error))
      return true;
  return false;
}

class Walker {
 public:
  Result<> add(const fs::path& given) {
    std::error_code error;
    fs::file_status status = fs::status(given, error);
    if (status.type() == fs::file_type::not_found)
      return fail(ErrorKind::data, fmt::format("{} does not exist", display_path(given)),
                  "give files or folders that exist");
    fs::path path = given.lexically_normal();
    if (status.type() == fs::file_type::directory) {
      root_ = path;
      canonical_root_ = fs::canonical(path, error);
      locate_site(path);
      walk_tree();
    } else if (status.type() != fs::file_type::regular) {
      skip(path, error ? error.message() : "not a regular file");
    } else if (find_format(path) == nullptr) {
      excluded_.insert_or_assign(path, Excluded{unsupported_reason(), SkipKind::unsupported});
    } else {
      root_ = path.parent_path();
      locate_site(root_.empty() ? fs::path(".") : root_);
      add_source(path, path.filename());
    }
    return {};
  }

  WalkResult finish() {
    std::sort(result_.files.begin(), result_.files.end(),
              [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    for (const auto& [path, excluded] : excluded_)
      if (!is_listed(path)) skip(path, excluded.reason, excluded.kind);
    std::sort(result_.skipped.begin(), result_.skipped.end(),
              [](const SkippedSource& a, const SkippedSource& b) {
                return std::tie(a.path, a.reason) < std::tie(b.path, b.reason);
              });
    return std::move(result_);
  }

 private:
  void skip(const fs::path& path, std::string reason, SkipKind kind = SkipKind::unreadable) {
    result_.skipped.push_back({display_path(path), std::move(reason), kind});
  }

  // Finds the site that a given folder belongs to, so that a page has the same URL whichever folder
  // of the site is given.
  void locate_site(const fs::path& folder) {
    root_name_ = folder_name(folder);
    below_site_.clear();
    std::error_code error;
    const fs::path canonical = fs::canonical(folder, error);
    for (fs::path site = canonical; !error && site != site.parent_path();
         site = site.parent_path()) {
      if (!is_site(site)) continue;
      root_name_.clear();
      if (site != canonical) below_site_ = canonical.lexically_relative(site);
      return;
    }
  }

  // Notes a path that is skipped unless it is one of the given paths.
  void exclude(const fs::path& path, std::string reason, SkipKind kind = SkipKind::unreadable) {
    excluded_.try_emplace(path, std::move(reason), kind);
  }

  void add_source(const fs::path& path, const fs::path& relative) {
    std::error_code error;
    fs::path canonical = fs::canonical(path, error);
    auto [first, is_new] = seen_.try_emplace(error ? path : canonical, path);
    if (!is_new) {
      if (first->second != path)
        skip(path, fmt::format("the same file as {}", display_path(first->second)));
      return;
    }
    result_.files.push_back({path, below_site_ / relative, root_name_});
  }

  void walk_tree() {
    std::vector<fs::path> folders = {root_};
    while (!folders.empty()) {
      fs::path folder = std::move(folders.back());
      folders.pop_back();
      std::error_code error;
      std::vector<fs::path> entries;
      for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        entries.push_back(it->path().lexically_normal());
      if (error) skip(folder, error.message());
      std::sort(entries.begin(), entries.end());
      for (const fs::path& path : entries)
        if (!is_ignored(path) && visit(path)) folders.push_back(path);
    }
  }

  // Handles a path found in the tree. Returns whether it is a folder to descend into.
  bool visit(const fs::path& path) {
    std::error_code error;
    fs::file_status status = fs::symlink_status(path, error);
    bool is_source_file = is_source_in_folder(path);
    if (status.type() == fs::file_type::directory) {
      if (path.filename() != "_drafts") return true;
      exclude(path, std::string(kDraftReason));
      return false;
    }
    if (is_source_file && is_unpublished(path)) {
      exclude(path, "starts with _, which site generators do not publish");
      return false;
    }
    const bool is_link = status.type() == fs::file_type::symlink;
    const fs::file_type type = is_link ? fs::status(path, error).type() : status.type();
    if (is_link && type == fs::file_type::directory) {
      skip(path, "a symbolic link to a folder; give the folder itself to index it");
    } else if (!is_source_file) {
      exclude(path, unsupported_in_folder_reason(path), SkipKind::unsupported);
    } else if (type != fs::file_type::regular) {
      skip(path, is_link ? "a symbolic link without a target" : "not a regular file");
    } else if (is_link && !is_inside(path)) {
      skip(path, "a symbolic link out of the tree");
    } else {
      add_source(path, path.lexically_relative(root_));
    }
    return false;
  }

  bool is_inside(const fs::path& path) const {
    std::error_code error;
    fs::path target = fs::canonical(path, error);
    if (error) return false;
    return is_below(target, canonical_root_);
  }

  // Whether a file at or below the path is listed. The files must be sorted.
  bool is_listed(const fs::path& path) const {
    auto first =
        std::lower_bound(result_.files.begin(), result_.files.end(), path,
                         [](const SourceFile& file, const fs::path& at) { return file.path < at; });
    return first != result_.files.end() && is_below(first->path, path);
  }

  struct Excluded {
    std::string reason;
    SkipKind kind;
  };

  WalkResult result_;
  std::map<fs::path, Excluded> excluded_;  // paths that are skipped unless they are given
  fs::path root_, canonical_root_;
  fs::path below_site_;  // the path of the given folder below the folder of its site
  std::string root_name_;
  std::map<fs::path, fs::path> seen_;  // key: a canonical path; value: the path that is listed
};

}  // namespace

std::string display_path(const fs::path& path) {
  return text::replace_controls(text::repair_utf8(path.string()), "\uFFFD");
}

Result<WalkResult> walk(std::span<const fs::path> paths) {
  Walker walker;
  for (const fs::path& path : paths) STOKA_TRY(walker.add(path));
  return walker.finish();
}

}  // namespace stoka::ingest
