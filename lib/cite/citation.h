// A citation as a visitor is shown it. Pure, thread safe.
#pragma once

#include <string>
#include <string_view>

#include "base/date.h"
#include "model/event.h"
#include "model/hit.h"

namespace stoka::cite {

// What a citation depends on besides its document.
struct Showing {
  std::string site;  // address of the site, put before the paths of documents; may be empty
  Date today{};      // a date of this year is shown without its year
};

// The hit's document with a quote of it. The URL leads to the quote: it ends in a text fragment,
// unless the document's address has a fragment already.
Citation make_citation(const Hit& hit, std::string quote, const Showing& showing);

// "#:~:text=…", by which a browser finds and marks the quote on its page; empty for no quote. Of a
// long quote it has the first and the last words.
std::string text_fragment(std::string_view quote);

}  // namespace stoka::cite
