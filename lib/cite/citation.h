// Builds the citation that a visitor is shown. The functions are pure and thread safe.
#pragma once

#include <string>
#include <string_view>

#include "base/date.h"
#include "model/event.h"
#include "model/hit.h"

namespace stoka::cite {

// What a citation depends on besides its document.
struct CitationContext {
  std::string site;  // URL of the site, put before the paths of documents; may be empty
  Date today{};      // dates of the same year are shown without the year
};

// Returns a citation of the hit's document with the quote. Its URL ends in a text fragment that
// leads to the quote, unless the document's URL has a fragment or the link would be too long.
Citation make_citation(const Hit& hit, std::string quote, const CitationContext& showing);

// Returns a text fragment, "#:~:text=…" (WICG): browsers scroll to the quote and highlight it. A
// long quote is represented by its first and last words. The result is empty for an empty quote.
std::string text_fragment(std::string_view quote);

}  // namespace stoka::cite
