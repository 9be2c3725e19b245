// The rules of a session: when it ends, which topic a turn leaves, and what a follow-up searches
// for. Pure, thread safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/event.h"
#include "model/hit.h"
#include "model/session.h"

namespace stoka::session {

// A session ends after this time without a turn. The next turn starts a new session of the visitor.
inline constexpr std::chrono::hours kSessionTimeout{2};

bool is_stale(const Session& session, Instant now);

// Returns the topic after a turn: for a new question the first tag of the best hit, for a follow-up
// the current topic. Empty if there is none.
std::string topic(Route route, std::span<const Hit> hits, const Session& session);

// Returns the text to search for. A follow-up that names no subject ("tell me more", "why?") is
// preceded by the last question that names one. Of a query of more than sixty words only the last
// questions in it are searched for, if they name a subject.
std::string effective_query(std::string_view query, Route route, const Session& session);

}  // namespace stoka::session
