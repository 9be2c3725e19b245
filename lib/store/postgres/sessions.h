// Reads and writes sessions. The caller provides the write transaction.
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

Result<std::optional<Session>> load_session(Connection& connection, std::string_view id);
Result<std::vector<Session>> load_sessions_after(Connection& connection, std::string_view id,
                                                 size_t limit);
// Returns the slugs that were shown in any session, each one once, in byte order.
Result<std::vector<std::string>> load_all_shown_slugs(Connection& connection);

// Implements SessionStore::commit_turn: four statements, and a few more if the turn changes the
// visitor.
Result<Session> merge_turn(Connection& connection, const TurnRecord& turn);
// Implements SessionStore::put_sessions.
Result<> merge_sessions(Connection& connection, std::span<const Session> sessions);

}  // namespace stoka::store::postgres
