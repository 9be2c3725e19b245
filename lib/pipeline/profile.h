// What a visitor has declared and read, shown and set.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/session.h"
#include "store/store.h"

namespace stoka::pipeline {

// Who asks: the visitor of a verified subject where there is one, else who is named.
struct Asker {
  std::string id;                // as named; empty: nobody is
  std::optional<Visitor> known;  // to the store; may have another id than was named
};

// `remote`: a visitor who has a subject is nobody's without it, as if nobody had been named. The id
// is empty or a UUID in lower case.
Result<Asker> asker(store::Store& store, const std::string& visitor_id, const std::string& subject,
                    bool remote);

// The visitor of that id, new to the store or not. A usage error unless it is a UUID.
Result<Visitor> profile(store::Store& store, std::string_view visitor_id);

// Interests are spelled as tags are; nothing leaves them as they are. Pages that were read join the
// history; not_found names a slug that no document has, and nothing is set then.
Result<Visitor> update_profile(store::Store& store, std::string_view visitor_id,
                               const std::optional<std::vector<std::string>>& interests,
                               const std::vector<std::string>& read, Instant now);

// {"visitor_id","interests":[…],"reading_history":[{"slug","at","scroll_pct"}]}
std::string to_json(const Visitor& visitor);

}  // namespace stoka::pipeline
