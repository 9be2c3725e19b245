// Reads and updates what the store knows about a visitor: declared interests and reading history.
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

struct VisitorLookup {
  std::string id;                 // the requested id; empty if none was given or it may not be used
  std::optional<Visitor> stored;  // from the store; the visitor of a subject may have another id
};

// Finds the visitor of a request: the visitor of the verified subject if the store knows one, else
// the visitor with the id. `visitor_id` must be empty or a UUID in lower case. If `remote` is set,
// a visitor who belongs to another subject is not returned, as if no id had been given.
Result<VisitorLookup> look_up_visitor(store::SessionStore& sessions, const std::string& visitor_id,
                                      const std::string& subject, bool remote);

// Returns the visitor with this id. Errors: usage if it is not a UUID, not_found if the store does
// not have the visitor.
Result<Visitor> profile(store::SessionStore& sessions, std::string_view visitor_id);

// Replaces the interests, written as tags, unless they are nullopt, and adds the documents with the
// slugs in `read` to the reading history. Creates the visitor if need be. Fails with not_found if
// no document has one of the slugs; then nothing is changed.
Result<Visitor> update_profile(store::IndexReader& index, store::SessionStore& sessions,
                               std::string_view visitor_id,
                               const std::optional<std::vector<std::string>>& interests,
                               const std::vector<std::string>& read, Instant now);

// {"visitor_id","interests":[…],"reading_history":[{"slug","at","scroll_pct"}]}
std::string to_json(const Visitor& visitor);

}  // namespace stoka::pipeline
