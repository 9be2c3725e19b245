// Products whose page and entry in a products.json are read by different index runs.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/page.h"
#include "ingest/product_pages.h"

namespace stoka::pipeline {

// Reads the other half of each product of which `pages` holds one half and `known`, what is
// indexed, another from outside the run: the page of an entry, or all entries of the products.json
// that has the page's. `in_run` tells whether a path belongs to the run. A page keeps its slug and
// address, and is read only if its file is as it was.
struct OtherHalves {
  std::vector<ingest::Page> pages;
  std::vector<Document> unpublished;  // entries that their author keeps from readers
  std::set<std::string> torn;         // paths of lists that could not be read, or not all of them
};
OtherHalves read_other_halves(const std::vector<ingest::Page>& pages,
                              const std::map<std::string, Document>& known,
                              const std::function<bool(const std::string& path)>& in_run,
                              std::string_view shape);

// Tells which indexed products have got another document: of their page and entry in one or, where
// the page's file is gone, of the entry alone.
class ReplacedProducts {
 public:
  // `pages` are united, and have the slugs they wish for.
  ReplacedProducts() = default;
  ReplacedProducts(const std::vector<ingest::Page>& pages,
                   const std::function<bool(const std::string& path)>& in_run);
  bool contains(const Document& old) const;

 private:
  std::set<std::pair<std::string, std::string>> united_;  // path of an entry, and slug or hash
  ingest::Things entries_;
};

}  // namespace stoka::pipeline
