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

// A usage error if an id or the subject cannot be stored. A subject is never sanitized, because the
// result might be the subject of somebody else.
Result<> validate(const TurnRecord& turn);
Result<> validate(const Visitor& visitor);
Result<> validate(const Session& session);

// Leaves in `history` the latest reading of each page, at most kMaxReadings, oldest first.
void merge_readings(std::vector<HistoryEntry>& history, std::span<const HistoryEntry> read);

// Adds to `known` the interests and readings that the same person has as another visitor.
void absorb(Visitor& known, const Visitor& other);

struct ResolvedVisitor {
  Visitor visitor;  // the visitor to save
  // The id of the visitor that was merged: to be removed, after its sessions were moved.
  std::optional<std::string> absorbed;
};

// The visitor to whom a turn belongs. `named` is the stored visitor with the turn's visitor id,
// `of_subject` the stored one with the turn's subject (nothing if the turn has none).
ResolvedVisitor resolve_visitor(const TurnRecord& turn, std::optional<Visitor> named,
                                std::optional<Visitor> of_subject);

// The session after the turn. `known` is the stored session, if there is one.
Session session_after_turn(const TurnRecord& turn, std::optional<Session> known,
                           const std::string& visitor_id);

// The visitor after SessionStore::update_visitor. `known` is the stored visitor, if there is one.
Visitor visitor_after_update(std::string_view id, std::optional<Visitor> known,
                             const std::optional<std::vector<std::string>>& interests,
                             std::span<const HistoryEntry> read, Instant now);

// The row after a copy was merged into the stored one: where they differ, the one that was active
// later wins; readings and shown slugs of both are kept.
Visitor after_copy(const Visitor& copied, std::optional<Visitor> known);
Session after_copy(const Session& copied, std::optional<Session> known);

// The data error for a session whose visitor is not stored.
Error unknown_visitor(const Session& session);

// The visitor that a copied one becomes. `known` is the stored visitor with its id, `of_subject`
// the stored one with its subject (nothing if it has none), into whom the other two are merged. A
// data error if the stored visitor with its id has another subject.
Result<ResolvedVisitor> resolve_copied_visitor(const Visitor& copied, std::optional<Visitor> known,
                                               std::optional<Visitor> of_subject);

}  // namespace stoka::store
