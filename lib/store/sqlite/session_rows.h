// Reads and writes the rows of visitors and sessions. The caller provides the write transaction.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/session.h"
#include "store/merge.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

Result<std::optional<Visitor>> load_visitor(Connection& connection, std::string_view id);
Result<std::optional<Visitor>> load_visitor_by_subject(Connection& connection,
                                                       std::string_view subject);
Result<std::vector<Visitor>> load_visitors_after(Connection& connection, std::string_view id,
                                                 size_t limit);

// Implements SessionStore::update_visitor.
Result<Visitor> merge_visitor_update(Connection& connection, std::string_view id,
                                     const std::optional<std::vector<std::string>>& interests,
                                     std::span<const HistoryEntry> read, Instant now);

// Implements SessionStore::put_visitors.
Result<std::vector<std::string>> merge_visitors(Connection& connection,
                                                std::span<const Visitor> visitors);

Result<std::optional<Session>> load_session(Connection& connection, std::string_view id);
Result<std::vector<Session>> load_sessions_after(Connection& connection, std::string_view id,
                                                 size_t limit);

// Implements SessionStore::commit_turn.
Result<Session> merge_turn(Connection& connection, const TurnRecord& turn);

// Implements SessionStore::put_sessions.
Result<> merge_sessions(Connection& connection, std::span<const Session> sessions);

// Returns the slugs that were shown in any session, each one once, in byte order.
Result<std::vector<std::string>> load_all_shown_slugs(Connection& connection);

}  // namespace stoka::store::sqlite
