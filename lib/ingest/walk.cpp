#include "ingest/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/ascii.h"
#include "text/controls.h"
#include "text/utf8.h"

namespace stoka::ingest {
namespace {

namespace fs = std::filesystem;

// As what a file is read that is named itself.
std::optional<SourceKind> kind_of(const fs::path& path) {
  std::string extension = lower(path.extension().string());
  if (extension == ".md" || extension == ".markdown" || extension == ".mdx")
    return SourceKind::markdown;
  if (extension == ".json") return SourceKind::products;
  if (extension == ".jsonl" || extension == ".ndjson") return SourceKind::corpus;
  return std::nullopt;
}

// Whether a file in a tree is a source: any other JSON there is a site's own data.
bool is_source(const fs::path& path) {
  return kind_of(path) == SourceKind::markdown || path.filename() == "products.json";
}

// Why a file in a tree is no source.
std::string_view unsupported_reason(const fs::path& path) {
  return kind_of(path) ? "data of the site; name the file itself to index it"
                       : "neither markdown nor products.json";
}

bool is_passed_over(const fs::path& path) {
  std::string name = path.filename().string();
  return name.starts_with('.') || name == "node_modules";
}

// As site generators see it: partials and templates, but for the page of a folder.
bool is_unpublished(const fs::path& path) {
  std::string name = path.filename().string();
  return name.starts_with('_') && !name.starts_with("_index.");
}

// Whether path is `folder` or lies below it.
bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

// "blog" for "site/blog", "site/blog/" and, inside site/blog, for ".".
std::string folder_name(const fs::path& path) {
  std::error_code error;
  fs::path whole = fs::canonical(path, error);
  return display_path((error ? path.lexically_normal() : whole).filename());
}

// Whether a site generator is told about its site in this folder.
bool is_site(const fs::path& folder) {
  std::error_code error;
  for (std::string_view name :
       {"hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json", "_config.yml", "_config.yaml",
        "_config.toml", "astro.config.mjs", "astro.config.ts", "astro.config.mts",
        "astro.config.js", "astro.config.cjs"})
    if (fs::is_regular_file(folder / name, error)) return true;
  for (std::string_view name : {"config.toml", "config.yaml", "config.yml"})  // Hugo, Zola
    if (fs::is_regular_file(folder / name, error) && fs::is_directory(folder / "content", error))
      return true;
  return false;
}

class Walker {
 public:
  Result<> add(const fs::path& named) {
    std::error_code error;
    fs::file_status status = fs::status(named, error);
    if (status.type() == fs::file_type::not_found)
      return fail(ErrorKind::data, fmt::format("{} does not exist", display_path(named)),
                  "name files or folders that exist");
    fs::path path = named.lexically_normal();
    if (status.type() == fs::file_type::directory) {
      root_ = path;
      canonical_root_ = fs::canonical(path, error);
      find_site(path);
      tree();
    } else if (status.type() != fs::file_type::regular) {
      skip(path, error ? error.message() : "not a regular file");
    } else if (!kind_of(path)) {
      withheld_.insert_or_assign(path,
                                 Withheld{"not markdown, json or jsonl", SkipKind::unsupported});
    } else {
      root_ = path.parent_path();
      find_site(root_.empty() ? fs::path(".") : root_);
      take(path, path.filename());
    }
    return {};
  }

  Walk finish() {
    std::sort(walk_.files.begin(), walk_.files.end(),
              [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    for (const auto& [path, why] : withheld_)
      if (!is_taken(path)) skip(path, std::string(why.reason), why.kind);
    std::sort(walk_.skipped.begin(), walk_.skipped.end(), [](const Skipped& a, const Skipped& b) {
      return std::tie(a.path, a.reason) < std::tie(b.path, b.reason);
    });
    return std::move(walk_);
  }

 private:
  void skip(const fs::path& path, std::string reason, SkipKind kind = SkipKind::unreadable) {
    walk_.skipped.push_back({display_path(path), std::move(reason), kind});
  }

  // Which site a named folder belongs to, so that its pages have the same addresses whichever
  // folder of it is named.
  void find_site(const fs::path& folder) {
    root_name_ = folder_name(folder);
    below_site_.clear();
    std::error_code error;
    const fs::path whole = fs::canonical(folder, error);
    for (fs::path site = whole; !error && site != site.parent_path(); site = site.parent_path()) {
      if (!is_site(site)) continue;
      root_name_.clear();
      if (site != whole) below_site_ = whole.lexically_relative(site);
      return;
    }
  }

  // Skips what may still be named.
  void withhold(const fs::path& path, std::string_view reason) {
    withheld_.try_emplace(path, reason, SkipKind::unreadable);
  }
  void pass_over(const fs::path& path) {
    withheld_.try_emplace(path, unsupported_reason(path), SkipKind::unsupported);
  }

  void take(const fs::path& path, const fs::path& relative) {
    std::error_code error;
    fs::path whole = fs::canonical(path, error);
    auto [first, fresh] = seen_.try_emplace(error ? path : whole, path);
    if (!fresh) {
      if (first->second != path)
        skip(path, fmt::format("the same file as {}", display_path(first->second)));
      return;
    }
    walk_.files.push_back({path, below_site_ / relative, root_name_, *kind_of(path)});
  }

  void tree() {
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
        if (!is_passed_over(path) && entry(path)) folders.push_back(path);
    }
  }

  // Whether it is a folder to go into.
  bool entry(const fs::path& path) {
    std::error_code error;
    fs::file_status status = fs::symlink_status(path, error);
    bool source = is_source(path);
    if (status.type() == fs::file_type::directory) {
      if (path.filename() != "_drafts") return true;
      withhold(path, kDraft);
      return false;
    }
    if (source && is_unpublished(path)) {
      withhold(path, "starts with _, which site generators do not publish");
      return false;
    }
    if (status.type() == fs::file_type::symlink) {
      fs::file_type target = fs::status(path, error).type();
      if (target == fs::file_type::directory) {
        skip(path, "a link to a folder; name the folder itself to index it");
      } else if (source && target != fs::file_type::regular) {
        skip(path, "a link that leads nowhere");
      } else if (source && !is_inside(path)) {
        skip(path, "a link that leads out of the tree");
      } else if (source) {
        take(path, path.lexically_relative(root_));
      } else {
        pass_over(path);
      }
      return false;
    }
    if (source && status.type() == fs::file_type::regular) {
      take(path, path.lexically_relative(root_));
    } else if (source) {
      skip(path, "not a regular file");
    } else {
      pass_over(path);
    }
    return false;
  }

  bool is_inside(const fs::path& path) const {
    std::error_code error;
    fs::path target = fs::canonical(path, error);
    if (error) return false;
    return is_below(target, canonical_root_);
  }

  // Whether something at that path or below it was named. The files are sorted.
  bool is_taken(const fs::path& path) const {
    auto first =
        std::lower_bound(walk_.files.begin(), walk_.files.end(), path,
                         [](const SourceFile& file, const fs::path& at) { return file.path < at; });
    return first != walk_.files.end() && is_below(first->path, path);
  }

  struct Withheld {
    std::string_view reason;
    SkipKind kind;
  };

  Walk walk_;
  std::map<fs::path, Withheld> withheld_;  // what a tree holds and is not taken unless named
  fs::path root_, canonical_root_;
  fs::path below_site_;  // where the named folder lies in its site
  std::string root_name_;
  std::map<fs::path, fs::path> seen_;  // canonical path -> path it was taken by
};

}  // namespace

std::string display_path(const fs::path& path) {
  return text::without_controls(text::repair_utf8(path.string()), "\uFFFD");
}

Result<Walk> walk(std::span<const fs::path> paths) {
  Walker walker;
  for (const fs::path& path : paths) STOKA_TRY(walker.add(path));
  return walker.finish();
}

}  // namespace stoka::ingest
