// A product may have a page of its own and an entry in a products.json; each is the counterpart of
// the other. These functions keep a product complete if an index run is given only one of the two.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/page.h"
#include "ingest/product_merge.h"

namespace stoka::pipeline {

struct Counterparts {
  std::vector<ingest::Page> pages;
  std::vector<Document> unpublished;  // entries that are private, drafts or the like
  std::set<std::string> torn;         // paths of the lists of which not every entry could be read
};

// Finds products of which this run has read only the page or the entry (in `pages`), and which were
// indexed (`indexed`: documents by slug) with a counterpart outside the run. Reads these again: the
// page of an entry, or all entries of the products.json that has the entry of a page. `in_run` says
// whether a path belongs to the run. A page is read only if its file is unchanged; the page keeps
// its slug and address. `shape` describes the chunker, as in ingest::load().
Counterparts read_counterparts(const std::vector<ingest::Page>& pages,
                               const std::map<std::string, Document>& indexed,
                               const std::function<bool(const std::string& path)>& in_run,
                               std::string_view shape);

// Tells which indexed products a document of this run with another slug or path replaces: the
// united document of page and entry or, if the file of the page is gone, the document of the entry.
class ReplacedProducts {
 public:
  // `pages` must be united (ingest::unite_products) and have their preferred slugs.
  ReplacedProducts() = default;
  ReplacedProducts(const std::vector<ingest::Page>& pages,
                   const std::function<bool(const std::string& path)>& in_run);
  bool contains(const Document& old) const;

 private:
  std::set<std::pair<std::string, std::string>> united_;  // path, and slug or hash, of entries
  ingest::DocumentMatcher entries_;
};

}  // namespace stoka::pipeline
