// Reads and writes visitors, and locks and saves visitors and sessions. The caller provides the
// write transaction, in which it locks what it will change before reading it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/session.h"
#include "store/postgres/connection.h"

namespace stoka::store::postgres {

Result<std::optional<Visitor>> load_visitor(Connection& connection, std::string_view id);
Result<std::optional<Visitor>> load_visitor_by_subject(Connection& connection,
                                                       std::string_view subject);
Result<std::vector<Visitor>> load_visitors_after(Connection& connection, std::string_view id,
                                                 size_t limit);

// The parameters $1 and $2 of a query for at most `limit` rows with a larger id than `id`, which is
// NULL for the first ones. `what` is "session" or "visitor".
Result<Params> page_params(std::string_view what, std::string_view id, size_t limit);

// Takes advisory locks on keys of visitors, subjects and sessions until the transaction ends. Row
// locks are not enough, because a row that does not exist yet cannot be locked.
Result<> lock_keys(Connection& connection, std::span<const std::string> keys);
std::string visitor_lock_key(std::string_view id);
std::string subject_lock_key(std::string_view subject);
std::string session_lock_key(std::string_view id);
// Locks all keys at once, so that no other transaction can hold one.
Result<> lock_all_keys(Connection& connection);

struct LockedVisitor {
  Visitor visitor;
  bool linked = false;  // whether the column supabase_uid is set
};
// Loads the visitors with one of the ids or subjects, ordered by id, and locks their rows.
Result<std::vector<LockedVisitor>> lock_visitors(Connection& connection,
                                                 std::span<const std::string> ids,
                                                 std::span<const std::string> subjects);

// Inserts or updates rows, whose ids must be distinct.
Result<> save(Connection& connection, std::span<const Visitor> visitors,
              std::span<const Session> sessions);
// Moves the sessions of a visitor to another one and removes the visitor.
Result<> replace_visitor(Connection& connection, std::string_view visitor_id,
                         std::string_view to_id);

// Implements SessionStore::update_visitor.
Result<Visitor> merge_visitor_update(Connection& connection, std::string_view id,
                                     const std::optional<std::vector<std::string>>& interests,
                                     std::span<const HistoryEntry> read, Instant now);
// Implements SessionStore::put_visitors.
Result<std::vector<std::string>> merge_visitors(Connection& connection,
                                                std::span<const Visitor> visitors);

}  // namespace stoka::store::postgres
