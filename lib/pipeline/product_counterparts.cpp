#include "pipeline/product_counterparts.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "ingest/loader.h"
#include "ingest/product_merge.h"

namespace stoka::pipeline {
namespace {

namespace fs = std::filesystem;
using ingest::Page;

bool is_entry(const Document& document) {
  return document.type == "product" && document.path.ends_with(".json");
}

// Reads an indexed page from its file again. The hash of a page depends on the folder that was
// given to the run that indexed it. That folder is not known, so all parent folders of the file are
// tried until one gives the same hash.
std::optional<Page> read_page_again(const Document& indexed, std::string_view shape) {
  const fs::path path = indexed.path;
  std::vector<ingest::SourceFile> candidates;
  if (auto walked = ingest::walk(std::vector{path})) candidates = std::move(walked->files);
  for (fs::path root = path.parent_path(); root != root.parent_path(); root = root.parent_path())
    candidates.push_back({path, path.lexically_relative(root), root.filename().string()});
  for (const ingest::SourceFile& candidate : candidates) {
    ingest::LoadedFile read = ingest::load(candidate, shape);
    if (read.pages.size() != 1) return std::nullopt;
    Page& page = read.pages.front();
    if (page.document.content_hash != ingest::page_hash(indexed.content_hash)) continue;
    page.document.slug = indexed.slug;
    page.has_explicit_slug = true;
    return std::move(page);
  }
  return std::nullopt;
}

}  // namespace

Counterparts read_counterparts(const std::vector<Page>& pages,
                               const std::map<std::string, Document>& indexed,
                               const std::function<bool(const std::string& path)>& in_run,
                               std::string_view shape) {
  ingest::DocumentMatcher read_pages, read_entries;
  for (const Page& page : pages)
    (page.is_product_entry ? read_entries : read_pages).add(page.document);
  std::set<std::string> lists;  // paths of the products.json files to read
  Counterparts counterparts;
  for (const auto& [slug, document] : indexed) {
    const std::string entry_file(ingest::entry_path(document.content_hash));
    if (in_run(document.path)) {
      if (!entry_file.empty() && !in_run(entry_file)) lists.insert(entry_file);
    } else if (is_entry(document)) {
      if (read_pages.contains(document)) lists.insert(document.path);
    } else if ((!entry_file.empty() && in_run(entry_file)) || read_entries.contains(document)) {
      if (auto page = read_page_again(document, shape))
        counterparts.pages.push_back(std::move(*page));
    }
  }
  for (const std::string& list : lists) {
    ingest::LoadedFile read = ingest::load({list, fs::path(list).filename(), ""}, shape);
    if (read.is_incomplete || (read.pages.empty() && read.unpublished.empty()))
      counterparts.torn.insert(list);
    std::move(read.pages.begin(), read.pages.end(), std::back_inserter(counterparts.pages));
    std::move(read.unpublished.begin(), read.unpublished.end(),
              std::back_inserter(counterparts.unpublished));
  }
  return counterparts;
}

ReplacedProducts::ReplacedProducts(const std::vector<Page>& pages,
                                   const std::function<bool(const std::string& path)>& in_run) {
  for (const Page& page : pages) {
    const std::string path(ingest::entry_path(page.document.content_hash));
    if (path.empty()) continue;
    united_.emplace(path, page.merged_entry_slug);
    united_.emplace(path, ingest::entry_hash(page.document.content_hash));
  }
  for (const Page& page : pages) {
    if (!page.is_product_entry) continue;
    united_.erase({page.document.path, page.document.slug});  // another entry now has this slug
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
