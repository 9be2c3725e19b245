#include "store/postgres/sessions.h"

#include <map>
#include <set>
#include <utility>

#include "base/clock.h"
#include "store/json_columns.h"
#include "store/merge.h"
#include "store/postgres/visitors.h"
#include "store/read_row.h"
#include "store/session_store.h"

namespace stoka::store::postgres {
namespace {

// Rows of the first schema version have one object, not an array, in last_exchange.
constexpr std::string_view kSelectSessions =
    "SELECT id::text, visitor_id::text, to_json(shown_slugs)::text, "
    "to_json(explored_topics)::text, "
    "turns, (CASE jsonb_typeof(last_exchange) WHEN 'object' THEN jsonb_build_array(last_exchange) "
    "ELSE last_exchange END)::text, (extract(epoch FROM started_at) * 1000)::bigint, "
    "(extract(epoch FROM last_active) * 1000)::bigint FROM stoka_sessions ";

std::string select_sessions(std::string_view condition) {
  return std::string(kSelectSessions) + std::string(condition);
}

// Loads the existing sessions by id and locks their rows.
Result<std::map<std::string, Session>> lock_sessions(Connection& connection,
                                                     std::span<const std::string> ids) {
  STOKA_ASSIGN(
      const Rows rows,
      connection.run(select_sessions("WHERE id = ANY($1::text[]::uuid[]) ORDER BY id FOR UPDATE"),
                     Params().texts(ids)));
  std::map<std::string, Session> sessions;
  for (size_t row = 0; row < rows.size(); ++row) {
    Session session = read_session(Row{rows, row});
    sessions.emplace(session.id, std::move(session));
  }
  return sessions;
}

// Sets supabase_uid to the subject. It may refer to auth.users, where the subject may be unknown:
// then supabase_uid stays empty and the transaction goes on.
Result<> link_user(Connection& connection, const Visitor& visitor) {
  STOKA_TRY(connection.run("SAVEPOINT stoka_link"));
  const auto linked = connection.run(
      "UPDATE stoka_visitors SET supabase_uid = subject::uuid WHERE id = $1::text::uuid",
      Params().text(visitor.id));
  if (linked) return {};
  const bool refused = connection.sqlstate().starts_with("23");  // class 23: a constraint
  if (!refused) return fail(linked.error());
  STOKA_TRY(connection.run("ROLLBACK TO SAVEPOINT stoka_link"));
  return {};
}

}  // namespace

Result<std::optional<Session>> load_session(Connection& connection, std::string_view id) {
  if (!is_valid_id(id)) return std::optional<Session>();
  STOKA_ASSIGN(const Rows rows,
               connection.run(select_sessions("WHERE id = $1::text::uuid"), Params().text(id)));
  if (rows.size() == 0) return std::optional<Session>();
  return read_session(Row{rows, 0});
}

Result<std::vector<Session>> load_sessions_after(Connection& connection, std::string_view id,
                                                 size_t limit) {
  STOKA_ASSIGN(const Params params, page_params("session", id, limit));
  STOKA_ASSIGN(const Rows rows,
               connection.run(select_sessions("WHERE ($1::text IS NULL OR id > $1::text::uuid) "
                                              "AND visitor_id IS NOT NULL "
                                              "ORDER BY id LIMIT $2::bigint"),
                              params));
  std::vector<Session> sessions;
  for (size_t row = 0; row < rows.size(); ++row) sessions.push_back(read_session(Row{rows, row}));
  return sessions;
}

Result<std::vector<std::string>> load_all_shown_slugs(Connection& connection) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT DISTINCT slug COLLATE \"C\" "
                              "FROM stoka_sessions, unnest(shown_slugs) AS shown (slug) "
                              "WHERE slug IS NOT NULL ORDER BY 1"));
  std::vector<std::string> slugs;
  for (size_t row = 0; row < rows.size(); ++row) slugs.emplace_back(rows.text(row, 0));
  return slugs;
}

Result<Session> merge_turn(Connection& connection, const TurnRecord& turn) {
  STOKA_TRY(validate(turn));
  std::vector<std::string> keys = {visitor_lock_key(turn.visitor_id),
                                   session_lock_key(turn.session_id)};
  std::vector<std::string> subjects;
  if (!turn.subject.empty()) {
    subjects.push_back(turn.subject);
    keys.push_back(subject_lock_key(turn.subject));
  }
  // Locks keys before rows, because the visitor or the session may not exist yet.
  STOKA_TRY(lock_keys(connection, keys));
  STOKA_ASSIGN(std::vector<LockedVisitor> locked,
               lock_visitors(connection, std::vector{turn.visitor_id}, subjects));
  std::optional<Visitor> named, of_subject;
  for (const LockedVisitor& row : locked) {
    if (row.visitor.id == turn.visitor_id) named = row.visitor;
    if (!subjects.empty() && row.visitor.subject == turn.subject) of_subject = row.visitor;
  }
  const ResolvedVisitor owner = resolve_visitor(turn, std::move(named), std::move(of_subject));

  STOKA_ASSIGN(auto sessions, lock_sessions(connection, std::vector{turn.session_id}));
  std::optional<Session> known;
  if (!sessions.empty()) known = std::move(sessions.begin()->second);
  // Rows that were inserted by hand may have no visitor.
  if (known && known->visitor_id.empty()) known->visitor_id = owner.visitor.id;
  Session session = session_after_turn(turn, std::move(known), owner.visitor.id);
  STOKA_TRY(save(connection, std::span(&owner.visitor, 1), std::span(&session, 1)));
  if (owner.absorbed) STOKA_TRY(replace_visitor(connection, *owner.absorbed, owner.visitor.id));

  bool linked = !is_uuid(owner.visitor.subject);
  for (const LockedVisitor& row : locked) {
    linked = linked || (row.linked && row.visitor.id == owner.visitor.id);
  }
  if (!linked) STOKA_TRY(link_user(connection, owner.visitor));
  return session;
}

Result<> merge_sessions(Connection& connection, std::span<const Session> sessions) {
  std::vector<std::string> ids;
  for (const Session& session : sessions) {
    STOKA_TRY(validate(session));
    ids.push_back(session.id);
  }
  STOKA_TRY(lock_all_keys(connection));
  STOKA_ASSIGN(auto known, lock_sessions(connection, ids));
  std::vector<std::string> owners;
  for (const Session& session : sessions) {
    std::optional<Session> stored;
    if (const auto found = known.find(session.id); found != known.end()) stored = found->second;
    if (stored && stored->visitor_id.empty()) stored->visitor_id = session.visitor_id;
    Session& after = known[session.id];
    after = after_copy(session, std::move(stored));
    owners.push_back(after.visitor_id);
  }
  STOKA_ASSIGN(const std::vector<LockedVisitor> visitors, lock_visitors(connection, owners, {}));
  std::set<std::string> visitor_ids;
  for (const LockedVisitor& row : visitors) visitor_ids.insert(row.visitor.id);
  std::vector<Session> changed;
  for (auto& [id, session] : known) {
    if (!visitor_ids.contains(session.visitor_id)) return fail(unknown_visitor(session));
    changed.push_back(std::move(session));
  }
  return save(connection, {}, changed);
}

}  // namespace stoka::store::postgres
