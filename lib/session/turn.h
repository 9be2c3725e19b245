// What a conversation remembers and how a turn changes it. Pure; stores keep what these rules
// decide.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/event.h"
#include "model/hit.h"
#include "model/session.h"

namespace stoka::session {

// Two hours without a turn end a session; the next turn opens a new one for the same visitor.
inline constexpr std::chrono::hours kStaleAfter{2};

bool is_stale(const Session& session, Instant now);

// The topic a turn leaves behind. A new question: the primary tag of the best hit; a follow-up: the
// topic stays. Empty when there is none.
std::string topic(Route route, std::span<const Hit> hits, const Session& session);

// What to search with. A follow-up that names nothing itself ("tell me more", "why?") means the
// last question that did, so that one stands in front of it. Of a letter of over sixty words what
// it asks is searched for: its last sentences that are questions, if they say about what.
std::string effective_query(std::string_view query, Route route, const Session& session);

}  // namespace stoka::session
