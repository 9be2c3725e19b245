// Carries what one store holds to another, of whatever kind: the index as it is, with its vectors,
// and the sessions of its visitors.
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
  size_t documents = 0;  // copied: new there, or changed
  size_t unchanged = 0;  // there already
  size_t removed = 0;    // gone from there, as they are not in the source
  size_t visitors = 0;
  size_t sessions = 0;
  size_t skipped = 0;  // visitors and sessions whose id is no UUID
};

// "documents", "vectors", "visitors", "sessions"; total 0 while it is unknown.
using CopyProgress = std::function<void(std::string_view what, size_t done, size_t total)>;

// One transaction a document, then a batch of visitors or sessions: whatever interrupts it, it goes
// on when it is run again, and run once more it changes nothing. Sessions that are there already
// keep what they have (see put_visitors). `to` must hold no other documents and no index that was
// made in another way, unless it may be pruned: config error. Errors: busy (an index run on `to`),
// data (the source changed meanwhile), cancelled, and the stores' own; what was copied stays.
Result<CopyReport> copy(Store& from, Store& to, bool prune, const Clock& clock,
                        const CopyProgress& progress = {}, std::stop_token stop = {});

}  // namespace stoka::store
