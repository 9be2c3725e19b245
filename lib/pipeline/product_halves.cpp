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

OtherHalves read_other_halves(const std::vector<Page>& pages,
                              const std::map<std::string, Document>& known,
                              const std::function<bool(const std::string& path)>& in_run,
                              std::string_view shape) {
  ingest::Things here, entries_here;
  for (const Page& page : pages) (page.is_entry ? entries_here : here).add(page.document);
  std::set<std::string> files;  // with entries
  OtherHalves others;
  for (const auto& [slug, document] : known) {
    const std::string entry_file(ingest::entry_path(document.content_hash));
    if (in_run(document.path)) {
      if (!entry_file.empty() && !in_run(entry_file)) files.insert(entry_file);
    } else if (is_entry(document)) {
      if (here.contains(document)) files.insert(document.path);
    } else if ((!entry_file.empty() && in_run(entry_file)) || entries_here.contains(document)) {
      if (auto page = read_again(document, shape)) others.pages.push_back(std::move(*page));
    }
  }
  for (const std::string& file : files) {
    ingest::Pages read =
        ingest::load({file, fs::path(file).filename(), "", ingest::SourceKind::products}, shape);
    if (read.torn || (read.pages.empty() && read.unpublished.empty())) others.torn.insert(file);
    std::move(read.pages.begin(), read.pages.end(), std::back_inserter(others.pages));
    std::move(read.unpublished.begin(), read.unpublished.end(),
              std::back_inserter(others.unpublished));
  }
  return others;
}

ReplacedProducts::ReplacedProducts(const std::vector<Page>& pages,
                                   const std::function<bool(const std::string& path)>& in_run) {
  for (const Page& page : pages) {
    const std::string path(ingest::entry_path(page.document.content_hash));
    if (path.empty()) continue;
    united_.emplace(path, page.entry_slug);
    united_.emplace(path, ingest::entry_hash(page.document.content_hash));
  }
  for (const Page& page : pages) {
    if (!page.is_entry) continue;
    united_.erase({page.document.path, page.document.slug});  // another entry of that slug
    if (in_run(page.document.path)) entries_.add(page.document);
  }
}

bool ReplacedProducts::contains(const Document& old) const {
  if (old.type != "product") return false;
  if (united_.contains({old.path, old.slug}) ||
      united_.contains({old.path, std::string(ingest::page_hash(old.content_hash))}))
    return true;
  std::error_code error;
  return entries_.contains(old) && !fs::exists(old.path, error) && !error;
}

}  // namespace stoka::pipeline
