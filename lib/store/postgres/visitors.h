// Visitors as rows, and how visitors and sessions are locked and saved. Changes are made inside a
// write transaction of the caller, which locks what it will change before it reads it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/session.h"
#include "store/postgres/connection.h"
#include "store/store.h"

namespace stoka::store::postgres {

Result<std::optional<Visitor>> load_visitor(Connection& connection, std::string_view id);
Result<std::optional<Visitor>> load_visitor_of(Connection& connection, std::string_view subject);
Result<std::vector<Visitor>> load_visitors_after(Connection& connection, std::string_view id,
                                                 size_t most);

// Nobody else changes what has one of these names until the end of the transaction, whether it is
// there yet or not: a row that is not there cannot be locked. See visitor_name() and its like.
Result<> lock_names(Connection& connection, std::span<const std::string> names);
std::string visitor_name(std::string_view id);
std::string subject_name(std::string_view subject);
std::string session_name(std::string_view id);
// Nobody else changes any visitor or session.
Result<> lock_all_names(Connection& connection);

struct LockedVisitor {
  Visitor visitor;
  bool linked = false;  // supabase_uid is known
};
// Those that have one of the ids or subjects, by id, locked.
Result<std::vector<LockedVisitor>> lock_visitors(Connection& connection,
                                                 std::span<const std::string> ids,
                                                 std::span<const std::string> subjects);

// New or changed rows, each id once.
Result<> save(Connection& connection, std::span<const Visitor> visitors,
              std::span<const Session> sessions);
// The visitor's sessions become the other's, and the visitor goes.
Result<> hand_over(Connection& connection, std::string_view visitor_id, std::string_view to_id);

// What Store::update_visitor does.
Result<Visitor> merge_visit(Connection& connection, std::string_view id,
                            const std::optional<std::vector<std::string>>& interests,
                            std::span<const Reading> read, Instant now);
// What Store::put_visitors does.
Result<std::vector<std::string>> merge_visitors(Connection& connection,
                                                std::span<const Visitor> visitors);

}  // namespace stoka::store::postgres
