#include "store/sqlite/session_rows.h"

#include <set>
#include <utility>

#include "store/json_columns.h"
#include "store/read_row.h"
#include "store/session_store.h"

namespace stoka::store::sqlite {
namespace {

constexpr std::string_view kSelectVisitors =
    "SELECT id, subject, interests, reading_history, first_seen, last_seen FROM stoka_visitors "
    "WHERE ";

constexpr std::string_view kSelectSessions =
    "SELECT id, visitor_id, shown_slugs, explored_topics, turns, last_exchange, started_at, "
    "last_active FROM stoka_sessions WHERE ";

template <class Record>
Result<std::optional<Record>> find(Connection& connection, std::string_view select,
                                   std::string_view condition, std::string_view value,
                                   Record (*read_record)(const Statement&)) {
  Statement rows = connection.prepare(std::string(select) + std::string(condition));
  rows.bind(value);
  STOKA_ASSIGN(const bool row, rows.step());
  if (!row) return std::optional<Record>();
  return read_record(rows);
}

// Loads rows to copy to another store; rows that validate() refuses are left out.
template <class Record>
Result<std::vector<Record>> load_after(Connection& connection, std::string_view select,
                                       std::string_view id, size_t limit,
                                       Record (*read_record)(const Statement&)) {
  std::vector<Record> records;
  Statement rows = connection.prepare(std::string(select) + "id > ? ORDER BY id");
  rows.bind(id);
  while (records.size() < limit) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) break;
    Record record = read_record(rows);
    if (validate(record)) records.push_back(std::move(record));
  }
  return records;
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

Result<> save_session(Connection& connection, const Session& session) {
  return connection
      .prepare(
          "INSERT INTO stoka_sessions (id, visitor_id, shown_slugs, explored_topics, turns, "
          "last_exchange, started_at, last_active) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
          "ON CONFLICT (id) DO UPDATE SET visitor_id = excluded.visitor_id, "
          "shown_slugs = excluded.shown_slugs, explored_topics = excluded.explored_topics, "
          "turns = excluded.turns, last_exchange = excluded.last_exchange, "
          "started_at = excluded.started_at, last_active = excluded.last_active")
      .bind(session.id)
      .bind(session.visitor_id)
      .bind(strings_to_json(session.shown_slugs))
      .bind(strings_to_json(session.explored_topics))
      .bind(int64_t{session.turns})
      .bind(exchanges_to_json(session.exchanges))
      .bind(int64_t{session.started_at.time_since_epoch().count()})
      .bind(int64_t{session.last_active.time_since_epoch().count()})
      .run();
}

// Saves the visitor, moves the sessions of the merged one to it and removes the merged one.
Result<> save_owner(Connection& connection, const ResolvedVisitor& owner) {
  STOKA_TRY(save_visitor(connection, owner.visitor));
  if (!owner.absorbed) return {};
  STOKA_TRY(connection.prepare("UPDATE stoka_sessions SET visitor_id = ? WHERE visitor_id = ?")
                .bind(owner.visitor.id)
                .bind(*owner.absorbed)
                .run());
  return connection.prepare("DELETE FROM stoka_visitors WHERE id = ?").bind(*owner.absorbed).run();
}

}  // namespace

Result<std::optional<Visitor>> load_visitor(Connection& connection, std::string_view id) {
  if (!is_valid_id(id)) return std::optional<Visitor>();
  return find<Visitor>(connection, kSelectVisitors, "id = ?", id, read_visitor);
}

Result<std::optional<Visitor>> load_visitor_by_subject(Connection& connection,
                                                       std::string_view subject) {
  return find<Visitor>(connection, kSelectVisitors, "subject = ?", subject, read_visitor);
}

Result<std::vector<Visitor>> load_visitors_after(Connection& connection, std::string_view id,
                                                 size_t limit) {
  return load_after<Visitor>(connection, kSelectVisitors, id, limit, read_visitor);
}

Result<Visitor> merge_visitor_update(Connection& connection, std::string_view id,
                                     const std::optional<std::vector<std::string>>& interests,
                                     std::span<const HistoryEntry> read, Instant now) {
  STOKA_TRY(check_id("visitor", id));
  STOKA_ASSIGN(std::optional<Visitor> known, load_visitor(connection, id));
  Visitor visitor = visitor_after_update(id, std::move(known), interests, read, now);
  STOKA_TRY(save_visitor(connection, visitor));
  return visitor;
}

Result<std::vector<std::string>> merge_visitors(Connection& connection,
                                                std::span<const Visitor> visitors) {
  std::vector<std::string> ids;
  for (const Visitor& visitor : visitors) {
    STOKA_TRY(validate(visitor));
    STOKA_ASSIGN(std::optional<Visitor> known, load_visitor(connection, visitor.id));
    std::optional<Visitor> of_subject;
    if (!visitor.subject.empty()) {
      STOKA_ASSIGN(of_subject, load_visitor_by_subject(connection, visitor.subject));
    }
    STOKA_ASSIGN(const ResolvedVisitor owner,
                 resolve_copied_visitor(visitor, std::move(known), std::move(of_subject)));
    STOKA_TRY(save_owner(connection, owner));
    ids.push_back(owner.visitor.id);
  }
  return ids;
}

Result<std::optional<Session>> load_session(Connection& connection, std::string_view id) {
  if (!is_valid_id(id)) return std::optional<Session>();
  return find<Session>(connection, kSelectSessions, "id = ?", id, read_session);
}

Result<std::vector<Session>> load_sessions_after(Connection& connection, std::string_view id,
                                                 size_t limit) {
  return load_after<Session>(connection, kSelectSessions, id, limit, read_session);
}

Result<Session> merge_turn(Connection& connection, const TurnRecord& turn) {
  STOKA_TRY(validate(turn));
  STOKA_ASSIGN(std::optional<Visitor> named, load_visitor(connection, turn.visitor_id));
  std::optional<Visitor> of_subject;
  if (!turn.subject.empty()) {
    STOKA_ASSIGN(of_subject, load_visitor_by_subject(connection, turn.subject));
  }
  const ResolvedVisitor owner = resolve_visitor(turn, std::move(named), std::move(of_subject));
  STOKA_TRY(save_owner(connection, owner));
  STOKA_ASSIGN(std::optional<Session> known, load_session(connection, turn.session_id));
  Session session = session_after_turn(turn, std::move(known), owner.visitor.id);
  STOKA_TRY(save_session(connection, session));
  return session;
}

Result<> merge_sessions(Connection& connection, std::span<const Session> sessions) {
  for (const Session& copied : sessions) {
    STOKA_TRY(validate(copied));
    STOKA_ASSIGN(std::optional<Session> known, load_session(connection, copied.id));
    const Session session = after_copy(copied, std::move(known));
    STOKA_ASSIGN(const std::optional<Visitor> visitor,
                 load_visitor(connection, session.visitor_id));
    if (!visitor) return fail(unknown_visitor(session));
    STOKA_TRY(save_session(connection, session));
  }
  return {};
}

Result<std::vector<std::string>> load_all_shown_slugs(Connection& connection) {
  std::set<std::string> slugs;
  Statement rows = connection.prepare("SELECT shown_slugs FROM stoka_sessions");
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return std::vector<std::string>(slugs.begin(), slugs.end());
    for (std::string& slug : strings_from_json(rows.text(0))) slugs.insert(std::move(slug));
  }
}

}  // namespace stoka::store::sqlite
