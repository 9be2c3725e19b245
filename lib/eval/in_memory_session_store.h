// A store that keeps sessions in memory, so that an evaluation changes nothing on disk.
#pragma once

#include <map>
#include <mutex>

#include "store/session_store.h"

namespace stoka::eval {

// Turns of verified subjects and the copying of sessions fail with a usage error, because an
// evaluation needs none of them. Threads: any.
class InMemorySessionStore final : public store::SessionStore {
 public:
  Result<std::optional<Session>> session(std::string_view id) override;
  Result<std::optional<Visitor>> visitor(std::string_view id) override;
  Result<std::optional<Visitor>> visitor_by_subject(std::string_view subject) override;
  Result<Session> commit_turn(const TurnRecord& turn) override;
  Result<Visitor> update_visitor(std::string_view id,
                                 const std::optional<std::vector<std::string>>& interests,
                                 std::span<const HistoryEntry> read, Instant now) override;
  Result<std::vector<std::string>> all_shown_slugs() override;
  Result<std::vector<Visitor>> visitors_after(std::string_view id, size_t most) override;
  Result<std::vector<Session>> sessions_after(std::string_view id, size_t most) override;
  Result<std::vector<std::string>> put_visitors(std::span<const Visitor> visitors) override;
  Result<> put_sessions(std::span<const Session> sessions) override;

 private:
  template <class T>
  using Rows = std::map<std::string, T, std::less<>>;  // stored objects by their id

  std::mutex mutex_;
  Rows<Session> sessions_;
  Rows<Visitor> visitors_;
};

}  // namespace stoka::eval
