// Sessions as rows. Writes are made inside a write transaction of the caller.
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

Result<std::optional<Session>> load_session(Database& database, std::string_view id);
Result<std::vector<Session>> load_sessions_after(Database& database, std::string_view id,
                                                 size_t most);

// What Store::commit_turn does.
Result<Session> merge_turn(Database& database, const TurnRecord& turn);

// What Store::put_sessions does.
Result<> merge_sessions(Database& database, std::span<const Session> sessions);

// Each once, in byte order.
Result<std::vector<std::string>> load_all_shown_slugs(Database& database);

}  // namespace stoka::store::sqlite
