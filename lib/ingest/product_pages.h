// One document for a product that has both a page and an entry in a products.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/page.h"

namespace stoka::ingest {

// Whether both are about one thing: they have one address on the site, or both are products and
// have one slug or one name.
bool same_thing(const Document& a, const Document& b);

// Puts each entry into the page of the same thing, which stays what it is: its slug, title, path,
// date and text. The entry adds its paragraphs that the page does not have, as a passage of their
// own at the end, its tags, and what the page lacks; its address counts if the page's is only the
// default. The first entry wins, then the first page; one entry a page. The order of the pages is
// that of their paths.
void unite_products(std::vector<Page>& pages);

// The content hash of a page with an entry remembers where the entry stood, so that later runs that
// read only one of the two files know of the other.
std::string_view page_hash(std::string_view content_hash);   // of the page alone
std::string_view entry_path(std::string_view content_hash);  // empty for a page without an entry

}  // namespace stoka::ingest
