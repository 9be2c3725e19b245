// The interests of a visitor, derived from three sources: declared tags, the reading history, and
// the page that is open now. Pure, thread safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/session.h"

namespace stoka::session {

struct InterestWeights {
  double declared = 1.0;
  double history = 0.6;  // the weight of a page read today; decreases to 0 over history_days
  double context = 0.3;  // the weight of a tag of the current page, never zero
  int history_days = 30;
};

struct Interest {
  std::string tag;
  double weight = 0;   // the weight of the interest, in (0, 1]
  std::string source;  // where the weight comes from: "declared", "history" or "context"
};

// Returns the tags of a document by its slug; empty for an unknown slug.
using TagLookup = std::function<std::vector<std::string>(std::string_view slug)>;

// Returns the interests by descending weight, ties by tag. A tag has the largest of its weights, so
// that declared > history > context holds for every tag. The weight of a page in the history
// decreases linearly to 0 over history_days. Slugs in `seen_slugs` of the client count as read
// today.
std::vector<Interest> interests(const Visitor& visitor, const PageContext& context,
                                const TagLookup& tags_of, Instant now,
                                const InterestWeights& weights = {});

}  // namespace stoka::session
