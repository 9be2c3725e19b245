#include "store/sqlite/visitors.h"

#include <utility>

#include "store/json_columns.h"
#include "store/store.h"

namespace stoka::store::sqlite {
namespace {

constexpr std::string_view kSelectVisitors =
    "SELECT id, subject, interests, reading_history, first_seen, last_seen FROM stoka_visitors "
    "WHERE ";

Visitor read_visitor(const Statement& row) {
  Visitor visitor;
  visitor.id = row.text(0);
  visitor.subject = row.text(1);
  visitor.interests = strings_from_json(row.text(2));
  visitor.history = history_from_json(row.text(3));
  visitor.first_seen = instant(row.integer(4));
  visitor.last_seen = instant(row.integer(5));
  return visitor;
}

Result<std::optional<Visitor>> find(Connection& connection, std::string_view condition,
                                    std::string_view value) {
  Statement rows = connection.prepare(std::string(kSelectVisitors) + std::string(condition));
  rows.bind(value);
  STOKA_ASSIGN(const bool row, rows.step());
  if (!row) return std::optional<Visitor>();
  return read_visitor(rows);
}

Result<> save_visitor(Connection& connection, const Visitor& visitor) {
  Statement save = connection.prepare(
      "INSERT INTO stoka_visitors (id, interests, reading_history, first_seen, last_seen, subject) "
      "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET interests = excluded.interests, "
      "reading_history = excluded.reading_history, first_seen = excluded.first_seen, "
      "last_seen = excluded.last_seen, subject = excluded.subject");
  save.bind(visitor.id)
      .bind(strings_to_json(visitor.interests))
      .bind(history_to_json(visitor.history))
      .bind(int64_t{visitor.first_seen.time_since_epoch().count()})
      .bind(int64_t{visitor.last_seen.time_since_epoch().count()});
  if (visitor.subject.empty()) {
    save.bind_null();
  } else {
    save.bind(visitor.subject);
  }
  return save.run();
}

}  // namespace

Result<std::optional<Visitor>> load_visitor(Connection& connection, std::string_view id) {
  if (!is_valid_id(id)) return std::optional<Visitor>();
  return find(connection, "id = ?", id);
}

Result<std::optional<Visitor>> load_visitor_of(Connection& connection, std::string_view subject) {
  return find(connection, "subject = ?", subject);
}

Result<std::vector<Visitor>> load_visitors_after(Connection& connection, std::string_view id,
                                                 size_t limit) {
  std::vector<Visitor> visitors;
  Statement rows = connection.prepare(std::string(kSelectVisitors) + "id > ? ORDER BY id");
  rows.bind(id);
  while (visitors.size() < limit) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) break;
    Visitor visitor = read_visitor(rows);
    if (check(visitor)) visitors.push_back(std::move(visitor));
  }
  return visitors;
}

Result<> save_owner(Connection& connection, const Owner& owner) {
  STOKA_TRY(save_visitor(connection, owner.visitor));
  if (!owner.absorbed) return {};
  STOKA_TRY(connection.prepare("UPDATE stoka_sessions SET visitor_id = ? WHERE visitor_id = ?")
                .bind(owner.visitor.id)
                .bind(*owner.absorbed)
                .run());
  return connection.prepare("DELETE FROM stoka_visitors WHERE id = ?").bind(*owner.absorbed).run();
}

Result<Visitor> merge_visit(Connection& connection, std::string_view id,
                            const std::optional<std::vector<std::string>>& interests,
                            std::span<const Reading> read, Instant now) {
  STOKA_TRY(check_id("visitor", id));
  STOKA_ASSIGN(std::optional<Visitor> known, load_visitor(connection, id));
  Visitor visitor = after_visit(id, std::move(known), interests, read, now);
  STOKA_TRY(save_visitor(connection, visitor));
  return visitor;
}

Result<std::vector<std::string>> merge_visitors(Connection& connection,
                                                std::span<const Visitor> visitors) {
  std::vector<std::string> ids;
  for (const Visitor& visitor : visitors) {
    STOKA_TRY(check(visitor));
    STOKA_ASSIGN(std::optional<Visitor> known, load_visitor(connection, visitor.id));
    std::optional<Visitor> of_subject;
    if (!visitor.subject.empty()) {
      STOKA_ASSIGN(of_subject, load_visitor_of(connection, visitor.subject));
    }
    STOKA_ASSIGN(const Owner owner,
                 resolve_copied_visitor(visitor, std::move(known), std::move(of_subject)));
    STOKA_TRY(save_owner(connection, owner));
    ids.push_back(owner.visitor.id);
  }
  return ids;
}

}  // namespace stoka::store::sqlite
