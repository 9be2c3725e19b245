// Sessions as rows. Changes are made inside a write transaction of the caller.
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
                                                 size_t most);
// Each once, in byte order.
Result<std::vector<std::string>> load_all_shown_slugs(Connection& connection);

// What Store::commit_turn does: four statements, and a few more when somebody becomes known.
Result<Session> merge_turn(Connection& connection, const TurnRecord& turn);
// What Store::put_sessions does.
Result<> merge_sessions(Connection& connection, std::span<const Session> sessions);

}  // namespace stoka::store::postgres
