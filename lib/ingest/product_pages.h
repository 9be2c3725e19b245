// One document for a product that has both a page and an entry in a products.json.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/page.h"

namespace stoka::ingest {

// Where a document stands on the web.
struct Address {
  explicit Address(const Document& document);

  // The place of a product is a page of the site if no other host is named. Of two products, one
  // may name the host and the other not.
  bool is_same(const Address& other) const;

  std::string host;   // empty for a path of the site
  std::string place;  // without what may differ for one page; empty for the root of a site
  bool is_product;
};

// Documents, to ask whether another one is about the same thing as any of them: they have one
// address, or both are products and have one slug or one name.
class Things {
 public:
  void add(const Document& document);
  bool contains(const Document& document) const;

 private:
  std::multimap<std::string, Address> by_place_;
  std::set<std::string> product_slugs_, product_names_;
};

// Puts each entry into the page of the same thing, which stays what it is: its slug, title, path,
// date and text. The entry adds its paragraphs that the page does not have, as a passage of their
// own at the end, its tags, and what the page lacks; its address counts if the page's is only the
// default. The first entry wins, then the first page; one entry a page. The order of the pages is
// that of their paths.
void unite_products(std::vector<Page>& pages);

// The content hash of a page with an entry remembers where the entry stood, so that later runs that
// read only one of the two files know of the other.
std::string_view page_hash(std::string_view content_hash);   // of the page alone
std::string_view entry_hash(std::string_view content_hash);  // of the entry; may be empty
std::string_view entry_path(std::string_view content_hash);  // empty for a page without an entry

// The content hash of a page whose entry cannot be read now.
std::string hash_without_entry(std::string_view page_hash, std::string_view entry_path);

}  // namespace stoka::ingest
