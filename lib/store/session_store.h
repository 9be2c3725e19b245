// The database of visitors and sessions.
//
// Ids of sessions and visitors are UUIDs in lower case. Reading with any other id finds nothing;
// writing with one is a usage error. Threads and other errors: see store/store.h.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/session.h"

namespace stoka::store {

// Whether `id` is a UUID in lower case.
bool is_valid_id(std::string_view id);
// Returns a usage error unless is_valid_id(id). `what` is "session" or "visitor".
Result<> check_id(std::string_view what, std::string_view id);

// How many turns may be committed at a time: one connection is left for readers if possible.
inline size_t commit_concurrency(size_t connections) {
  return connections > 1 ? connections - 1 : 1;
}

class SessionStore {
 public:
  virtual ~SessionStore() = default;

  virtual Result<std::optional<Session>> session(std::string_view id) = 0;
  virtual Result<std::optional<Visitor>> visitor(std::string_view id) = 0;
  // Returns the visitor with the given subject; nothing for the empty subject.
  virtual Result<std::optional<Visitor>> visitor_by_subject(std::string_view subject) = 0;
  // Creates the visitor and the session if they are new, merges the turn into them and returns the
  // session after it, in one transaction. Concurrent turns of a session are all kept.
  virtual Result<Session> commit_turn(const TurnRecord& turn) = 0;
  // Commits several turns, in order; one that fails does not affect the others. A store that waits
  // for the disk waits only once for all turns.
  virtual std::vector<Result<Session>> commit_turns(std::span<const TurnRecord> turns);
  // How many commits can run at a time. If 1, waiting turns should be committed together.
  virtual size_t max_concurrent_commits() const { return 1; }
  // Replaces the interests if they are given and merges `read` into the visitor's history, in one
  // transaction. An unknown visitor is created.
  virtual Result<Visitor> update_visitor(std::string_view id,
                                         const std::optional<std::vector<std::string>>& interests,
                                         std::span<const HistoryEntry> read, Instant now) = 0;
  // Every slug that was shown in any session.
  virtual Result<std::vector<std::string>> all_shown_slugs() = 0;

  // -- copying sessions to another store
  // At most `limit` rows with a larger id than `id` ("" for the first ones), ordered by id.
  virtual Result<std::vector<Visitor>> visitors_after(std::string_view id, size_t limit) = 0;
  virtual Result<std::vector<Session>> sessions_after(std::string_view id, size_t limit) = 0;
  // Merges rows into the existing ones, in one transaction; merging the same rows again changes
  // nothing. Returns the id under which each visitor is kept: the id of the existing visitor with
  // the same subject, else its own.
  virtual Result<std::vector<std::string>> put_visitors(std::span<const Visitor> visitors) = 0;
  virtual Result<> put_sessions(std::span<const Session> sessions) = 0;
};

}  // namespace stoka::store
