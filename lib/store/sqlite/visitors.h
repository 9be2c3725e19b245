// Visitors as rows. Writes are made inside a write transaction of the caller.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/session.h"
#include "store/sqlite/database.h"

namespace stoka::store::sqlite {

inline constexpr size_t kMostReadings = 500;  // kept of a visitor, the latest

Result<std::optional<Visitor>> load_visitor(Database& database, std::string_view id);
Result<std::optional<Visitor>> load_visitor_of(Database& database, std::string_view subject);
Result<> save_visitor(Database& database, const Visitor& visitor);

// One reading a slug, the latest; oldest first.
void merge_readings(std::vector<Reading>& history, std::span<const Reading> read);

// What Store::update_visitor does.
Result<Visitor> merge_visitor(Database& database, std::string_view id,
                              const std::optional<std::vector<std::string>>& interests,
                              std::span<const Reading> read, Instant now);

}  // namespace stoka::store::sqlite
