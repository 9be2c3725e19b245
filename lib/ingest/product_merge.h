// Merges a product's page and its entry in a products.json into one document.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/page.h"

namespace stoka::ingest {

// The URL of a document, normalised for comparing.
struct DocumentUrl {
  explicit DocumentUrl(const Document& document);

  // Whether both addresses are the URL of the same page. The paths must be equal and not empty. The
  // hosts must be equal too, unless one of the documents is a product without a host.
  bool is_same(const DocumentUrl& other) const;

  std::string host;  // the host; empty for a path of the site
  std::string path;  // path without query, fragment, ".html" and last "/"; empty for the root
  bool is_product;
};

// A set of documents that can be asked whether it has a document about the same subject: one with
// the same URL or, among products, one with the same slug or the same name.
class DocumentMatcher {
 public:
  void add(const Document& document);
  bool contains(const Document& document) const;

 private:
  std::multimap<std::string, DocumentUrl> by_path_;
  std::set<std::string> product_slugs_, product_names_;
};

// Merges each product entry into the page about the same product. The page keeps its slug, title,
// path, date and text. The entry adds the paragraphs that the page lacks, as a passage at the end,
// its tags, and metadata that the page lacks; its URL is used if the page has only the default one.
// The first entry is merged into the first matching page, and a page takes only one entry. The
// pages must be sorted by path.
void merge_products(std::vector<Page>& pages);

// The content hash of a merged page also records the hash and the path of the entry, so that a
// later run that reads only one of the two files knows about the other.
std::string_view page_hash(std::string_view content_hash);   // the part that belongs to the page
std::string_view entry_hash(std::string_view content_hash);  // the part of the entry; may be empty
std::string_view entry_path(std::string_view content_hash);  // the entry's file; may be empty

// The content hash to store for a page whose entry cannot be read in this run.
std::string hash_without_entry(std::string_view page_hash, std::string_view entry_path);

}  // namespace stoka::ingest
