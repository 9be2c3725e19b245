// Reads and updates what the store knows about a visitor: declared interests and reading history.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/claim.h"
#include "model/session.h"
#include "store/index_reader.h"
#include "store/session_store.h"

namespace stoka::pipeline {

struct VisitorLookup {
  std::string id;  // the id that the caller gave; empty if there is none or it may not be used
  std::optional<Visitor> stored;  // the stored visitor, whose id differs if found by subject
};

// Finds the visitor of a request: the visitor of the subject if the store knows one, else the
// visitor with the id. To a remote caller, a visitor who belongs to another subject is not
// returned, as if no id had been given.
Result<VisitorLookup> look_up_visitor(store::SessionStore& sessions, const Caller& caller);

// Returns the visitor of the caller. Fails with not_found if the store has none.
Result<Visitor> profile(store::SessionStore& sessions, const Caller& caller);

// Replaces the interests of the caller's visitor, written as tags, unless they are nullopt, and
// adds the documents with the slugs in `read` to the reading history. Creates the visitor with the
// caller's id if need be. Fails with not_found if that id belongs to another subject or no document
// has one of the slugs; then nothing is changed.
Result<Visitor> update_profile(store::IndexReader& index, store::SessionStore& sessions,
                               const Caller& caller,
                               const std::optional<std::vector<std::string>>& interests,
                               const std::vector<std::string>& read, Instant now);

// {"visitor_id","interests":[…],"reading_history":[{"slug","at","scroll_pct"}]}
std::string to_json(const Visitor& visitor);

}  // namespace stoka::pipeline
