#include "eval/in_memory_session_store.h"

#include <set>

#include "store/merge.h"

namespace stoka::eval {
namespace {

tl::unexpected<Error> unsupported() {
  return fail(ErrorKind::usage, "an evaluation stores no sessions", "use the store itself");
}

template <class T>
std::optional<T> find(const std::map<std::string, T, std::less<>>& rows, std::string_view id) {
  const auto found = rows.find(id);
  if (found == rows.end()) return std::nullopt;
  return found->second;
}

}  // namespace

Result<std::optional<Session>> InMemorySessionStore::session(std::string_view id) {
  std::lock_guard lock(mutex_);
  return find(sessions_, id);
}

Result<std::optional<Visitor>> InMemorySessionStore::visitor(std::string_view id) {
  std::lock_guard lock(mutex_);
  return find(visitors_, id);
}

Result<std::optional<Visitor>> InMemorySessionStore::visitor_by_subject(std::string_view) {
  return std::optional<Visitor>();
}

Result<Session> InMemorySessionStore::commit_turn(const TurnRecord& turn) {
  STOKA_TRY(store::validate(turn));
  if (!turn.subject.empty()) return unsupported();
  std::lock_guard lock(mutex_);
  const store::ResolvedVisitor owner =
      store::resolve_visitor(turn, find(visitors_, turn.visitor_id), std::nullopt);
  visitors_.insert_or_assign(owner.visitor.id, owner.visitor);
  Session session =
      store::session_after_turn(turn, find(sessions_, turn.session_id), owner.visitor.id);
  sessions_.insert_or_assign(session.id, session);
  return session;
}

Result<Visitor> InMemorySessionStore::update_visitor(
    std::string_view id, const std::optional<std::vector<std::string>>& interests,
    std::span<const HistoryEntry> read, Instant now) {
  STOKA_TRY(store::check_id("visitor", id));
  std::lock_guard lock(mutex_);
  Visitor visitor = store::visitor_after_update(id, find(visitors_, id), interests, read, now);
  visitors_.insert_or_assign(visitor.id, visitor);
  return visitor;
}

Result<std::vector<std::string>> InMemorySessionStore::all_shown_slugs() {
  std::lock_guard lock(mutex_);
  std::set<std::string> slugs;
  for (const auto& [id, session] : sessions_)
    slugs.insert(session.shown_slugs.begin(), session.shown_slugs.end());
  return std::vector<std::string>(slugs.begin(), slugs.end());
}

Result<std::vector<Visitor>> InMemorySessionStore::visitors_after(std::string_view, size_t) {
  return unsupported();
}

Result<std::vector<Session>> InMemorySessionStore::sessions_after(std::string_view, size_t) {
  return unsupported();
}

Result<std::vector<std::string>> InMemorySessionStore::put_visitors(std::span<const Visitor>) {
  return unsupported();
}

Result<> InMemorySessionStore::put_sessions(std::span<const Session>) { return unsupported(); }

}  // namespace stoka::eval
