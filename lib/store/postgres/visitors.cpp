#include "store/postgres/visitors.h"

#include <map>
#include <utility>

#include "store/json_columns.h"
#include "store/merge.h"
#include "store/read_row.h"
#include "store/session_store.h"

namespace stoka::store::postgres {
namespace {

constexpr std::string_view kSelectVisitors =
    "SELECT id::text, subject, to_json(interests)::text, reading_history::text, "
    "(extract(epoch FROM first_seen) * 1000)::bigint, "
    "(extract(epoch FROM last_seen) * 1000)::bigint, supabase_uid IS NOT NULL "
    "FROM stoka_visitors ";

std::string select_visitors(std::string_view condition) {
  return std::string(kSelectVisitors) + std::string(condition);
}

// Collects the rows as one array parameter for each column.
void add_columns(Params& params, std::span<const Visitor> visitors) {
  std::vector<std::string> ids, subjects, interests, histories;
  std::vector<int64_t> first_seen, last_seen;
  for (const Visitor& visitor : visitors) {
    ids.push_back(visitor.id);
    subjects.push_back(visitor.subject);
    interests.push_back(strings_to_json(visitor.interests));
    histories.push_back(history_to_json(visitor.history));
    first_seen.push_back(visitor.first_seen.time_since_epoch().count());
    last_seen.push_back(visitor.last_seen.time_since_epoch().count());
  }
  params.texts(ids).texts(subjects).texts(interests).texts(histories);
  params.integers(first_seen).integers(last_seen);
}

void add_columns(Params& params, std::span<const Session> sessions) {
  std::vector<std::string> ids, visitor_ids, shown_slugs, topics, exchanges;
  std::vector<int64_t> turns, started_at, last_active;
  for (const Session& session : sessions) {
    ids.push_back(session.id);
    visitor_ids.push_back(session.visitor_id);
    shown_slugs.push_back(strings_to_json(session.shown_slugs));
    topics.push_back(strings_to_json(session.explored_topics));
    exchanges.push_back(exchanges_to_json(session.exchanges));
    turns.push_back(session.turns);
    started_at.push_back(session.started_at.time_since_epoch().count());
    last_active.push_back(session.last_active.time_since_epoch().count());
  }
  params.texts(ids).texts(visitor_ids).texts(shown_slugs).texts(topics).texts(exchanges);
  params.integers(turns).integers(started_at).integers(last_active);
}

// One statement is enough: foreign keys are checked at its end, when the visitors exist.
constexpr std::string_view kSave =
    "WITH saved AS ("
    "  INSERT INTO stoka_visitors (id, subject, interests, reading_history, first_seen, last_seen)"
    "  SELECT id::uuid, NULLIF(subject, ''),"
    "    ARRAY(SELECT jsonb_array_elements_text(interests::jsonb)), history::jsonb,"
    "    'epoch'::timestamptz + first_seen * interval '1 millisecond',"
    "    'epoch'::timestamptz + last_seen * interval '1 millisecond'"
    "  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])"
    "    AS given (id, subject, interests, history, first_seen, last_seen)"
    "  ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, interests = excluded.interests,"
    "    reading_history = excluded.reading_history, first_seen = excluded.first_seen,"
    "    last_seen = excluded.last_seen"
    ") "
    "INSERT INTO stoka_sessions (id, visitor_id, shown_slugs, explored_topics, last_exchange, "
    "turns, "
    "  started_at, last_active) "
    "SELECT id::uuid, NULLIF(visitor_id, '')::uuid,"
    "  ARRAY(SELECT jsonb_array_elements_text(shown_slugs::jsonb)),"
    "  ARRAY(SELECT jsonb_array_elements_text(topics::jsonb)), exchanges::jsonb, turns::int,"
    "  'epoch'::timestamptz + started_at * interval '1 millisecond',"
    "  'epoch'::timestamptz + last_active * interval '1 millisecond' "
    "FROM unnest($7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[],"
    "  $13::bigint[], $14::bigint[])"
    "  AS given (id, visitor_id, shown_slugs, topics, exchanges, turns, started_at, last_active) "
    "ON CONFLICT (id) DO UPDATE SET visitor_id = excluded.visitor_id,"
    "  shown_slugs = excluded.shown_slugs, explored_topics = excluded.explored_topics,"
    "  last_exchange = excluded.last_exchange, turns = excluded.turns,"
    "  started_at = excluded.started_at, last_active = excluded.last_active";

constexpr std::string_view kSharedKey = "hashtextextended('stoka visitors and sessions', 0)";

}  // namespace

Result<std::optional<Visitor>> load_visitor(Connection& connection, std::string_view id) {
  if (!is_valid_id(id)) return std::optional<Visitor>();
  STOKA_ASSIGN(const Rows rows,
               connection.run(select_visitors("WHERE id = $1::text::uuid"), Params().text(id)));
  if (rows.size() == 0) return std::optional<Visitor>();
  return read_visitor(Row{rows, 0});
}

Result<std::optional<Visitor>> load_visitor_by_subject(Connection& connection,
                                                       std::string_view subject) {
  if (subject.empty() || !is_valid_text(subject)) return std::optional<Visitor>();
  STOKA_ASSIGN(const Rows rows,
               connection.run(select_visitors("WHERE subject = $1::text"), Params().text(subject)));
  if (rows.size() == 0) return std::optional<Visitor>();
  return read_visitor(Row{rows, 0});
}

Result<Params> page_params(std::string_view what, std::string_view id, size_t limit) {
  Params params;
  if (id.empty()) {
    params.null();
  } else {
    STOKA_TRY(check_id(what, id));
    params.text(id);
  }
  params.integer(static_cast<int64_t>(limit));
  return params;
}

Result<std::vector<Visitor>> load_visitors_after(Connection& connection, std::string_view id,
                                                 size_t limit) {
  STOKA_ASSIGN(const Params params, page_params("visitor", id, limit));
  STOKA_ASSIGN(const Rows rows,
               connection.run(select_visitors("WHERE $1::text IS NULL OR id > $1::text::uuid "
                                              "ORDER BY id LIMIT $2::bigint"),
                              params));
  std::vector<Visitor> visitors;
  for (size_t row = 0; row < rows.size(); ++row) visitors.push_back(read_visitor(Row{rows, row}));
  return visitors;
}

Result<> lock_keys(Connection& connection, std::span<const std::string> keys) {
  // Every transaction locks keys in their order, so that no two transactions deadlock.
  STOKA_TRY(connection.run("SELECT pg_advisory_xact_lock_shared(" + std::string(kSharedKey) +
                               "), pg_advisory_xact_lock(key) FROM ("
                               "SELECT DISTINCT hashtextextended(name, 0) AS key "
                               "FROM unnest($1::text[]) AS given (name) ORDER BY key) AS keys",
                           Params().texts(keys)));
  return {};
}

std::string visitor_lock_key(std::string_view id) { return "stoka visitor " + std::string(id); }
std::string subject_lock_key(std::string_view subject) {
  return "stoka subject " + std::string(subject);
}
std::string session_lock_key(std::string_view id) { return "stoka session " + std::string(id); }

Result<> lock_all_keys(Connection& connection) {
  STOKA_TRY(connection.run("SELECT pg_advisory_xact_lock(" + std::string(kSharedKey) + ")"));
  return {};
}

Result<std::vector<LockedVisitor>> lock_visitors(Connection& connection,
                                                 std::span<const std::string> ids,
                                                 std::span<const std::string> subjects) {
  STOKA_ASSIGN(const Rows rows,
               connection.run(select_visitors(
                                  "WHERE id = ANY($1::text[]::uuid[]) OR subject = ANY($2::text[]) "
                                  "ORDER BY id FOR UPDATE"),
                              Params().texts(ids).texts(subjects)));
  std::vector<LockedVisitor> locked;
  for (size_t row = 0; row < rows.size(); ++row) {
    locked.push_back({read_visitor(Row{rows, row}), rows.boolean(row, 6)});
  }
  return locked;
}

Result<> save(Connection& connection, std::span<const Visitor> visitors,
              std::span<const Session> sessions) {
  Params params;
  add_columns(params, visitors);
  add_columns(params, sessions);
  STOKA_TRY(connection.run(kSave, params));
  return {};
}

Result<> replace_visitor(Connection& connection, std::string_view visitor_id,
                         std::string_view to_id) {
  STOKA_TRY(
      connection.run("WITH moved AS (UPDATE stoka_sessions SET visitor_id = $2::text::uuid "
                     "WHERE visitor_id = $1::text::uuid) "
                     "DELETE FROM stoka_visitors WHERE id = $1::text::uuid",
                     Params().text(visitor_id).text(to_id)));
  return {};
}

Result<Visitor> merge_visitor_update(Connection& connection, std::string_view id,
                                     const std::optional<std::vector<std::string>>& interests,
                                     std::span<const HistoryEntry> read, Instant now) {
  STOKA_TRY(check_id("visitor", id));
  STOKA_TRY(lock_keys(connection, std::vector{visitor_lock_key(id)}));
  STOKA_ASSIGN(std::vector<LockedVisitor> locked,
               lock_visitors(connection, std::vector{std::string(id)}, {}));
  std::optional<Visitor> known;
  if (!locked.empty()) known = std::move(locked.front().visitor);
  Visitor visitor = visitor_after_update(id, std::move(known), interests, read, now);
  STOKA_TRY(save(connection, std::span(&visitor, 1), {}));
  return visitor;
}

Result<std::vector<std::string>> merge_visitors(Connection& connection,
                                                std::span<const Visitor> visitors) {
  std::vector<std::string> ids, subjects;
  for (const Visitor& visitor : visitors) {
    STOKA_TRY(validate(visitor));
    ids.push_back(visitor.id);
    if (!visitor.subject.empty()) subjects.push_back(visitor.subject);
  }
  STOKA_TRY(lock_all_keys(connection));
  STOKA_ASSIGN(std::vector<LockedVisitor> locked, lock_visitors(connection, ids, subjects));
  std::map<std::string, Visitor> known;  // visitors by id, with the changes so far
  for (LockedVisitor& row : locked) known.emplace(row.visitor.id, std::move(row.visitor));
  std::map<std::string, std::string> removed;  // the id of the replacement, by removed id
  const auto of_id = [&](const std::string& id) -> std::optional<Visitor> {
    const auto found = known.find(id);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  };
  std::map<std::string, std::string> id_of;  // ids of visitors by subject
  for (const auto& [id, visitor] : known) {
    if (!visitor.subject.empty()) id_of.emplace(visitor.subject, id);
  }

  std::vector<std::string> kept;
  for (const Visitor& visitor : visitors) {
    std::optional<Visitor> of_subject;
    if (const auto found = id_of.find(visitor.subject); found != id_of.end()) {
      of_subject = of_id(found->second);
    }
    STOKA_ASSIGN(ResolvedVisitor owner,
                 resolve_copied_visitor(visitor, of_id(visitor.id), std::move(of_subject)));
    if (owner.absorbed) {
      known.erase(*owner.absorbed);
      removed.emplace(*owner.absorbed, owner.visitor.id);
    }
    kept.push_back(owner.visitor.id);
    if (!owner.visitor.subject.empty()) id_of[owner.visitor.subject] = owner.visitor.id;
    known[owner.visitor.id] = std::move(owner.visitor);
  }
  std::vector<Visitor> changed;
  for (auto& [id, visitor] : known) changed.push_back(std::move(visitor));
  STOKA_TRY(save(connection, changed, {}));
  for (const auto& [id, to_id] : removed) STOKA_TRY(replace_visitor(connection, id, to_id));
  return kept;
}

}  // namespace stoka::store::postgres
