// What a turn, a reading, a verified subject and a copy make of the rows that are there. Pure: a
// store loads the rows, locks them its own way, and saves what comes out, which is storable().
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

inline constexpr size_t kMostReadings = 500;  // kept of a visitor, the latest
inline constexpr size_t kMostExchanges = 10;  // kept of a session, the last

// Whether it may be stored: its ids, and its subject, which is never repaired, as it might then be
// that of somebody else. Usage errors.
Result<> check(const TurnRecord& turn);
Result<> check(const Visitor& visitor);
Result<> check(const Session& session);

// The latest reading of each page, oldest first, the five hundred latest.
void merge_readings(std::vector<Reading>& history, std::span<const Reading> read);

// `known` takes over all that the same person had as another visitor.
void absorb(Visitor& known, const Visitor& other);

struct Owner {
  Visitor visitor;                      // to be saved
  std::optional<std::string> absorbed;  // visitor whose sessions become the owner's, and who goes
};

// The visitor that a turn belongs to. `named`: the visitor whose id the turn names; `of_subject`:
// the one who has the turn's subject (not asked for if the turn has none).
Owner settle_owner(const TurnRecord& turn, std::optional<Visitor> named,
                   std::optional<Visitor> of_subject);

// The session after the turn; `known` is the session before it, if there was one.
Session after_turn(const TurnRecord& turn, std::optional<Session> known,
                   const std::string& visitor_id);

// The visitor after a declaration of interests and some readings.
Visitor after_visit(std::string_view id, std::optional<Visitor> known,
                    const std::optional<std::vector<std::string>>& interests,
                    std::span<const Reading> read, Instant now);

// What a copied row makes of the one that is there: whoever was active later wins. Readings and
// shown slugs of both are kept.
Visitor after_copy(const Visitor& copied, std::optional<Visitor> known);
Session after_copy(const Session& copied, std::optional<Session> known);

// A data error: a session must not be stored before its visitor.
Error unknown_visitor(const Session& session);

// The visitor that a copied one becomes. `known`: who has its id here; `of_subject`: who has its
// subject here (not asked for if it has none), who takes over both. A data error if its id is here
// of another subject.
Result<Owner> settle_copied(const Visitor& copied, std::optional<Visitor> known,
                            std::optional<Visitor> of_subject);

}  // namespace stoka::store
