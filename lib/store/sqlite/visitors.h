// Reads and writes visitors. The caller provides the write transaction.
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
Result<std::optional<Visitor>> load_visitor_of(Connection& connection, std::string_view subject);
Result<std::vector<Visitor>> load_visitors_after(Connection& connection, std::string_view id,
                                                 size_t limit);

// Saves the visitor, moves the sessions of the absorbed one to it and removes that one.
Result<> save_owner(Connection& connection, const Owner& owner);

// Implements Store::update_visitor.
Result<Visitor> merge_visit(Connection& connection, std::string_view id,
                            const std::optional<std::vector<std::string>>& interests,
                            std::span<const Reading> read, Instant now);

// Implements Store::put_visitors.
Result<std::vector<std::string>> merge_visitors(Connection& connection,
                                                std::span<const Visitor> visitors);

}  // namespace stoka::store::sqlite
