#include "model/claim.h"

namespace stoka {

VisitorClaim claim_visitor(const std::optional<Visitor>& named,
                           const std::optional<Visitor>& of_subject, std::string_view subject) {
  if (named && named->subject == subject) return VisitorClaim::own;
  const bool is_anonymous = named && named->subject.empty();
  if (of_subject) return is_anonymous ? VisitorClaim::merge : VisitorClaim::of_subject;
  if (is_anonymous) return VisitorClaim::adopt;
  return named ? VisitorClaim::foreign : VisitorClaim::unknown;
}

SessionClaim claim_session(const Session& session, const std::optional<Visitor>& owner,
                           const Caller& caller) {
  const VisitorClaim claim = claim_visitor(owner, std::nullopt, caller.subject);
  if (claim == VisitorClaim::own && !caller.subject.empty()) return SessionClaim::own;
  if (claim == VisitorClaim::foreign && caller.remote) return SessionClaim::foreign;
  if (!caller.visitor_id.empty())
    return session.visitor_id == caller.visitor_id ? SessionClaim::own : SessionClaim::foreign;
  if (!caller.remote) return SessionClaim::own;
  return caller.subject.empty() ? SessionClaim::unproven : SessionClaim::foreign;
}

}  // namespace stoka
