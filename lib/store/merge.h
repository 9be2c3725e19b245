// How turns, readings, verified subjects and copied rows change the stored visitors and sessions.
// Pure functions: a store loads and locks the rows, calls one of these, and saves the result, whose
// text is sanitized (see sanitize_text()).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/session.h"

namespace stoka::store {

inline constexpr size_t kMaxReadings = 500;  // readings kept of a visitor, the latest ones
inline constexpr size_t kMaxExchanges = 10;  // exchanges kept of a session, the latest ones

// Returns a usage error if an id or the subject cannot be stored. A subject is never sanitized,
// because the result might be the subject of somebody else.
Result<> validate(const TurnRecord& turn);
Result<> validate(const Visitor& visitor);
Result<> validate(const Session& session);

// Leaves in `history` the latest reading of each page, at most kMaxReadings, oldest first.
void merge_readings(std::vector<HistoryEntry>& history, std::span<const HistoryEntry> read);

// Adds to `known` the interests and readings that the same person has as another visitor.
void absorb(Visitor& known, const Visitor& other);

struct ResolvedVisitor {
  Visitor visitor;  // the visitor to save
  // The id of the visitor that was merged into `visitor`: to be removed after moving its sessions.
  std::optional<std::string> absorbed;
};

// Returns the visitor to whom a turn belongs. `named` is the stored visitor with the turn's visitor
// id, `of_subject` the stored visitor with its subject (nothing if the turn has no subject).
ResolvedVisitor resolve_visitor(const TurnRecord& turn, std::optional<Visitor> named,
                                std::optional<Visitor> of_subject);

// Returns the session after the turn. `known` is the stored session, if there is one.
Session session_after_turn(const TurnRecord& turn, std::optional<Session> known,
                           const std::string& visitor_id);

// Returns the updated visitor. `known` is the stored visitor, if there is one.
Visitor visitor_after_update(std::string_view id, std::optional<Visitor> known,
                             const std::optional<std::vector<std::string>>& interests,
                             std::span<const HistoryEntry> read, Instant now);

// Returns the stored row after a copied row was merged into it. Where the two differ, the row that
// was active later wins; readings and shown slugs of both are kept.
Visitor after_copy(const Visitor& copied, std::optional<Visitor> known);
Session after_copy(const Session& copied, std::optional<Session> known);

// Returns the data error for a session whose visitor is not stored.
Error unknown_visitor(const Session& session);

// Returns what to save for a copied visitor. `known` is the stored visitor with the same id,
// `of_subject` the stored visitor with the same subject (nothing without a subject), into whom the
// other two are merged. A data error if `known` has another subject.
Result<ResolvedVisitor> resolve_copied_visitor(const Visitor& copied, std::optional<Visitor> known,
                                               std::optional<Visitor> of_subject);

}  // namespace stoka::store
