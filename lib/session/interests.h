// What a visitor seems to care about, from three layers: declared tags, reading history, the page
// that is open now. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/session.h"

namespace stoka::session {

struct InterestWeights {
  double declared = 1.0;
  double history = 0.6;  // at full strength; fades over history_days
  double context = 0.3;  // never zero
  int history_days = 30;
};

struct Interest {
  std::string tag;
  double weight = 0;   // in (0, 1]
  std::string source;  // "declared", "history", "context": the strongest one
};

// Tags of a document by slug; empty for an unknown slug.
using TagsOf = std::function<std::vector<std::string>(std::string_view slug)>;

// Strongest first, ties by tag. A tag takes its strongest layer's weight, so that declared >
// history > context holds for every tag. A reading fades linearly to nothing over history_days;
// slugs that the client says it has seen count as read today.
std::vector<Interest> interests(const Visitor& visitor, const PageContext& context,
                                const TagsOf& tags_of, Instant now,
                                const InterestWeights& weights = {});

// The path of a page or URL, so that its spellings are one: without scheme, host, query and
// fragment, without index.html and a slash at the end; "/" for the root, "" for nothing.
std::string page_path(std::string_view page);

// The slug that a page path ends in: "/blog/some-post/?x#y" -> "some-post". Empty for "/".
std::string page_slug(std::string_view page);

}  // namespace stoka::session
