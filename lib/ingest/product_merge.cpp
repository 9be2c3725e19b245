#include "ingest/product_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/url.h"
#include "text/normalize.h"

namespace stoka::ingest {
namespace {

// A merged content hash is PAGE_HASH + ENTRY_HASH @ ENTRY_PATH, without the spaces.
constexpr char kEntryMark = '+', kPathMark = '@';

// The path of a URL in the one form that all URLs of a page share: "https://x.example/a/b.html#c"
// becomes "/a/b". Empty for the root of the site, which is not the page of a product.
std::string normalized_path(std::string_view url) {
  std::string path = page_path(url);
  if (path.ends_with(".html")) path.resize(path.size() - std::string_view(".html").size());
  return path == "/" ? std::string() : path;
}

// Finds the page of a product entry by URL, otherwise by slug, otherwise by name.
class PageFinder {
 public:
  explicit PageFinder(std::vector<Page>& pages) {
    for (Page& page : pages) {
      const Document& document = page.document;
      const DocumentUrl url(document);
      if (page.is_product_entry) {
        ++entries_by_path_[url.path];
        continue;
      }
      by_path_.emplace(url.path, &page);
      if (document.type != "product") continue;
      by_slug_.try_emplace(document.slug, &page);
      by_name_.try_emplace(text::fold(document.title), &page);
    }
  }

  Page* find(const Document& entry) const {
    const DocumentUrl url(entry);
    // A URL that several entries share is that of a page that lists them all.
    if (entries_by_path_.at(url.path) == 1) {
      const auto [begin, end] = by_path_.equal_range(url.path);
      for (auto at = begin; at != end; ++at)
        if (url.is_same(DocumentUrl(at->second->document))) return at->second;
    }
    if (auto at = by_slug_.find(entry.slug); at != by_slug_.end()) return at->second;
    auto at = by_name_.find(text::fold(entry.title));
    return at == by_name_.end() ? nullptr : at->second;
  }

 private:
  std::multimap<std::string, Page*> by_path_;
  std::map<std::string, Page*> by_slug_, by_name_;
  std::map<std::string, size_t> entries_by_path_;
};

void merge_entry(Page& page, Page& entry) {
  std::string known;
  for (const Block& block : page.blocks) known += text::fold(block.text) + "\n";
  std::erase_if(entry.blocks, [&](const Block& block) {
    return known.find(text::fold(block.text)) != std::string::npos;
  });
  // A heading that repeats the title ends the last section of the page.
  if (!entry.blocks.empty()) page.blocks.push_back({BlockKind::heading, 1, page.document.title});
  std::move(entry.blocks.begin(), entry.blocks.end(), std::back_inserter(page.blocks));

  Document& to = page.document;
  Document& from = entry.document;
  page.merged_entry_slug = from.slug;
  to.type = "product";
  if (to.description.empty()) to.description = std::move(from.description);
  if (to.author.empty()) to.author = std::move(from.author);
  if (!to.date) to.date = from.date;
  for (std::string& tag : from.tags)
    if (std::find(to.tags.begin(), to.tags.end(), tag) == to.tags.end())
      to.tags.push_back(std::move(tag));
  if (!page.has_explicit_url && entry.has_explicit_url && from.url.starts_with('/'))
    to.url = from.url;
  to.content_hash = fmt::format("{}{}{}{}{}", to.content_hash, kEntryMark, from.content_hash,
                                kPathMark, from.path);
}

}  // namespace

DocumentUrl::DocumentUrl(const Document& document)
    : host(split_url(document.url).host),
      path(normalized_path(document.url)),
      is_product(document.type == "product") {}

bool DocumentUrl::is_same(const DocumentUrl& other) const {
  if (path.empty() || path != other.path) return false;
  return host == other.host || (is_product && host.empty()) ||
         (other.is_product && other.host.empty());
}

void DocumentMatcher::add(const Document& document) {
  DocumentUrl url(document);
  if (url.is_product) {
    product_slugs_.insert(document.slug);
    product_names_.insert(text::fold(document.title));
  }
  std::string path = url.path;
  by_path_.emplace(std::move(path), std::move(url));
}

bool DocumentMatcher::contains(const Document& document) const {
  const DocumentUrl url(document);
  const auto [begin, end] = by_path_.equal_range(url.path);
  if (std::any_of(begin, end, [&](const auto& other) { return url.is_same(other.second); }))
    return true;
  return url.is_product && (product_slugs_.contains(document.slug) ||
                            product_names_.contains(text::fold(document.title)));
}

void merge_products(std::vector<Page>& pages) {
  PageFinder finder(pages);
  std::vector<bool> is_merged(pages.size(), false);
  for (Page& entry : pages) {
    if (!entry.is_product_entry) continue;
    Page* page = finder.find(entry.document);
    if (page == nullptr || !entry_path(page->document.content_hash).empty()) continue;
    merge_entry(*page, entry);
    is_merged[static_cast<size_t>(&entry - pages.data())] = true;
  }
  size_t at = 0;
  std::erase_if(pages, [&](const Page&) { return is_merged[at++]; });
}

std::string_view page_hash(std::string_view content_hash) {
  std::string_view hash = content_hash.substr(0, content_hash.find(kEntryMark));
  return hash.substr(hash.rfind(' ') + 1);  // an index run may put a word before the hash
}

std::string_view entry_hash(std::string_view content_hash) {
  const size_t mark = content_hash.find(kEntryMark);
  if (mark == std::string_view::npos) return {};
  content_hash.remove_prefix(mark + 1);
  return content_hash.substr(0, content_hash.find(kPathMark));
}

std::string hash_without_entry(std::string_view page_hash, std::string_view entry_path) {
  return fmt::format("{}{}{}{}", page_hash, kEntryMark, kPathMark, entry_path);
}

std::string_view entry_path(std::string_view content_hash) {
  size_t from = content_hash.find(kPathMark);
  return from == std::string_view::npos ? std::string_view() : content_hash.substr(from + 1);
}

}  // namespace stoka::ingest
