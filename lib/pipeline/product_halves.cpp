#include "pipeline/product_halves.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "ingest/loader.h"
#include "ingest/product_pages.h"

namespace stoka::pipeline {
namespace {

namespace fs = std::filesystem;
using ingest::Page;

bool is_entry(const Document& document) {
  return document.type == "product" && document.path.ends_with(".json");
}

// The page from its file. Which folder was given to the run that indexed it is not known: one that
// gives the same content hash.
std::optional<Page> read_again(const Document& known, std::string_view shape) {
  const fs::path path = known.path;
  std::vector<ingest::SourceFile> candidates;
  if (auto walked = ingest::walk(std::vector{path})) candidates = std::move(walked->files);
  for (fs::path root = path.parent_path(); root != root.parent_path(); root = root.parent_path())
    candidates.push_back({path, path.lexically_relative(root), root.filename().string()});
  for (const ingest::SourceFile& candidate : candidates) {
    ingest::Pages read = ingest::load(candidate, shape);
    if (read.pages.size() != 1) continue;
    Page& page = read.pages.front();
    if (page.document.content_hash != ingest::page_hash(known.content_hash)) continue;
    page.document.slug = known.slug;
    page.explicit_slug = page.holds_slug = true;
    return std::move(page);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Page> read_other_halves(const std::vector<Page>& pages,
                                    const std::map<std::string, Document>& known,
                                    const std::function<bool(const std::string& path)>& in_run,
                                    std::string_view shape) {
  const auto is_half_here = [&](const Document& document, bool entry) {
    return std::any_of(pages.begin(), pages.end(), [&](const Page& page) {
      return page.is_entry == entry && ingest::same_thing(page.document, document);
    });
  };
  std::set<std::string> files;  // with entries
  std::vector<Page> others;
  for (const auto& [slug, document] : known) {
    const std::string entry_file(ingest::entry_path(document.content_hash));
    if (in_run(document.path)) {
      if (!entry_file.empty() && !in_run(entry_file)) files.insert(entry_file);
    } else if (is_entry(document)) {
      if (is_half_here(document, false)) files.insert(document.path);
    } else if ((!entry_file.empty() && in_run(entry_file)) || is_half_here(document, true)) {
      if (auto page = read_again(document, shape)) others.push_back(std::move(*page));
    }
  }
  for (const std::string& file : files) {
    ingest::Pages read =
        ingest::load({file, fs::path(file).filename(), "", ingest::SourceKind::products}, shape);
    std::move(read.pages.begin(), read.pages.end(), std::back_inserter(others));
  }
  return others;
}

}  // namespace stoka::pipeline
