// Sessions as rows. Writes are made inside a write transaction of the caller.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace stoka::store::sqlite {

inline constexpr size_t kMostExchanges = 10;  // kept of a session

Result<std::optional<Session>> load_session(Database& database, std::string_view id);

// What Store::commit_turn does. A verified subject has one visitor: if it is known by another id,
// the anonymous visitor of this turn is merged into it with all its sessions. A visitor of another
// subject is left alone.
Result<Session> merge_turn(Database& database, const TurnRecord& turn);

// Each once, in byte order.
Result<std::vector<std::string>> load_all_shown_slugs(Database& database);

}  // namespace stoka::store::sqlite
