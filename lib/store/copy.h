// Copies the contents of one store to another of any kind: the index with its vectors, visitors and
// sessions.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "store/store.h"

namespace stoka::store {

struct CopyReport {
  size_t documents = 0;  // documents copied because they are new in the target, or changed
  size_t unchanged = 0;  // documents skipped because the target has them already
  size_t removed = 0;    // documents removed from the target because the source does not have them
  size_t visitors = 0;
  size_t sessions = 0;
  size_t skipped = 0;  // visitors and sessions whose id is not a UUID
};

// `what` is "documents", "vectors", "visitors" or "sessions"; `total` is 0 if it is not known.
using CopyProgress = std::function<void(std::string_view what, size_t done, size_t total)>;

// Copies a document, or a batch of visitors or sessions, in each transaction. A copy that was
// interrupted continues when it is run again; a repeated complete copy changes nothing. Sessions
// are merged into those of the target (see SessionStore::put_visitors). Errors: config (without
// `prune`, if `to` has other documents or an index made in another way), busy (an index run on
// `to`), data (the source changed meanwhile), cancelled, and the errors of the stores. What was
// copied before an error stays.
Result<CopyReport> copy(Store& from, Store& to, bool prune, const Clock& clock,
                        const CopyProgress& progress = {}, std::stop_token stop = {});

}  // namespace stoka::store
