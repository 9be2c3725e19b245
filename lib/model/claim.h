// Decides who may use a stored visitor or session. The pipeline checks this before a turn or a
// change of a profile, a store when it saves a turn. All functions are pure and thread safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/session.h"

namespace stoka {

// The sender of a request, as the request itself names it.
struct Caller {
  std::string visitor_id;  // the id of a visitor: a UUID in lower case, or empty
  std::string subject;     // the subject of a verified token, or empty
  bool remote = false;     // whether the request comes from another machine
};

// A visitor without a subject is anonymous: whoever knows the id may use it.
enum class VisitorClaim {
  unknown,  // neither the id nor the subject is stored: the request creates a visitor with that id
  own,      // the named visitor: both have the same subject, or neither has one
  adopt,    // the named visitor, who is anonymous until now and is given the subject
  of_subject,  // the stored visitor of the subject
  merge,    // the stored visitor of the subject, who is given the data of the anonymous named one
  foreign,  // the named visitor belongs to a subject that the request does not have
};

// The claim of a request with this subject. `named` is the stored visitor with the id that the
// request names, `of_subject` the stored visitor of the subject (nothing if the subject is empty).
// What a foreign visitor may be used for is decided by the caller of this function.
VisitorClaim claim_visitor(const std::optional<Visitor>& named,
                           const std::optional<Visitor>& of_subject, std::string_view subject);

enum class SessionClaim {
  own,       // the session is the caller's
  unproven,  // the caller is remote and gave neither a visitor nor a subject
  foreign,   // the session belongs to another visitor
};

// The claim of a caller to a stored session, whose visitor is `owner` (nothing if not stored). The
// id of the visitor or the subject proves that the session is the caller's. A local caller needs no
// proof: all sessions of the machine are the user's.
SessionClaim claim_session(const Session& session, const std::optional<Visitor>& owner,
                           const Caller& caller);

}  // namespace stoka
