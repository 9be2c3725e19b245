// Reads and writes sessions. The caller provides the write transaction.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/session.h"
#include "store/sqlite/connection.h"

namespace stoka::store::sqlite {

Result<std::optional<Session>> load_session(Connection& connection, std::string_view id);
Result<std::vector<Session>> load_sessions_after(Connection& connection, std::string_view id,
                                                 size_t limit);

// Implements Store::commit_turn.
Result<Session> merge_turn(Connection& connection, const TurnRecord& turn);

// Implements Store::put_sessions.
Result<> merge_sessions(Connection& connection, std::span<const Session> sessions);

// Distinct, in byte order.
Result<std::vector<std::string>> load_all_shown_slugs(Connection& connection);

}  // namespace stoka::store::sqlite
