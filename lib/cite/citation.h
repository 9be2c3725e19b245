// Builds the citation that a visitor is shown. Pure, thread safe.
#pragma once

#include <string>
#include <string_view>

#include "base/date.h"
#include "model/event.h"
#include "model/hit.h"

namespace stoka::cite {

// What a citation depends on besides its document.
struct CitationContext {
  std::string site;  // URL of the site, prefixed to the paths of documents; may be empty
  Date today{};      // dates of the same year are shown without the year
};

// Cites the hit's document with the quote. The URL ends in a text fragment that leads to the quote,
// unless the URL of the document already has a fragment or the link would be too long.
Citation make_citation(const Hit& hit, std::string quote, const CitationContext& showing);

// "#:~:text=…", a text fragment (WICG): browsers scroll to the quote and highlight it. A long quote
// is represented by its first and last words. Empty for an empty quote.
std::string text_fragment(std::string_view quote);

}  // namespace stoka::cite
