// Visitors as rows. Writes are made inside a write transaction of the caller.
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

Result<std::optional<Visitor>> load_visitor(Database& database, std::string_view id);
Result<std::optional<Visitor>> load_visitor_of(Database& database, std::string_view subject);
Result<std::vector<Visitor>> load_visitors_after(Database& database, std::string_view id,
                                                 size_t most);

// Saves the owner and removes who was absorbed.
Result<> save_owner(Database& database, const Owner& owner);

// What Store::update_visitor does.
Result<Visitor> merge_visit(Database& database, std::string_view id,
                            const std::optional<std::vector<std::string>>& interests,
                            std::span<const Reading> read, Instant now);

// What Store::put_visitors does.
Result<std::vector<std::string>> merge_visitors(Database& database,
                                                std::span<const Visitor> visitors);

}  // namespace stoka::store::sqlite
