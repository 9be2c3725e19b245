#include "model/claim.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace claim_test {

using namespace stoka;

namespace {

Visitor visitor(const std::string& id, const std::string& subject) {
  Visitor out;
  out.id = id;
  out.subject = subject;
  return out;
}

const std::optional<Visitor> kNobody;
const std::optional<Visitor> kAnonymous = visitor("v", "");
const std::optional<Visitor> kMine = visitor("v", "me");
const std::optional<Visitor> kTheirs = visitor("v", "them");
const std::optional<Visitor> kMeElsewhere = visitor("w", "me");

}  // namespace

TEST_CASE("the subject of a request and the stored visitors decide whose visitor it is") {
  using enum VisitorClaim;
  struct {
    const char* what;
    std::string subject;
    std::optional<Visitor> named, of_subject;
    VisitorClaim claim;
  } const cases[] = {
      {"no token, no visitor", "", kNobody, kNobody, unknown},
      {"no token, an anonymous visitor", "", kAnonymous, kNobody, own},
      {"no token, a visitor with a subject", "", kTheirs, kNobody, foreign},
      {"a token, nobody is known", "me", kNobody, kNobody, unknown},
      {"a token, an anonymous visitor", "me", kAnonymous, kNobody, adopt},
      {"a token, its own visitor", "me", kMine, kMine, own},
      {"a token, its own visitor, found only by id", "me", kMine, kNobody, own},
      {"a token, the visitor of another subject", "me", kTheirs, kNobody, foreign},
      {"a token whose visitor has another id", "me", kNobody, kMeElsewhere, of_subject},
      {"the same with an anonymous visitor", "me", kAnonymous, kMeElsewhere, merge},
      {"the same with the visitor of another subject", "me", kTheirs, kMeElsewhere, of_subject},
  };
  for (const auto& c : cases) {
    CAPTURE(c.what);
    CHECK((claim_visitor(c.named, c.of_subject, c.subject) == c.claim));
  }
}

TEST_CASE("the subject, the visitor id and the machine of a request decide whose session it is") {
  using enum SessionClaim;
  Session session;
  session.visitor_id = "v";
  struct {
    const char* what;
    std::optional<Visitor> owner;
    Caller caller;
    SessionClaim claim;
  } const cases[] = {
      {"local, without an id", kAnonymous, {"", "", false}, own},
      {"local, without an id, of a subject", kMine, {"", "", false}, own},
      {"local, with the id", kAnonymous, {"v", "", false}, own},
      {"local, with the id, of a subject", kMine, {"v", "", false}, own},
      {"local, with another id", kAnonymous, {"x", "", false}, foreign},
      {"local, the visitor is not stored", kNobody, {"", "", false}, own},
      {"remote, without an id", kAnonymous, {"", "", true}, unproven},
      {"remote, without an id, of a subject", kMine, {"", "", true}, foreign},
      {"remote, the visitor is not stored", kNobody, {"", "", true}, unproven},
      {"remote, with the id", kAnonymous, {"v", "", true}, own},
      {"remote, with the id of a visitor who is not stored", kNobody, {"v", "", true}, own},
      {"remote, with the id, of a subject", kMine, {"v", "", true}, foreign},
      {"remote, with another id", kAnonymous, {"x", "", true}, foreign},
      {"a token of the session's subject", kMine, {"", "me", true}, own},
      {"a token of the session's subject, with another id", kMine, {"x", "me", true}, own},
      {"a token of another subject", kTheirs, {"", "me", true}, foreign},
      {"a token of another subject, with the id", kTheirs, {"v", "me", true}, foreign},
      {"a token, an anonymous session, with the id", kAnonymous, {"v", "me", true}, own},
      {"a token, an anonymous session, without an id", kAnonymous, {"", "me", true}, foreign},
      {"a token, an anonymous session, with another id", kAnonymous, {"x", "me", true}, foreign},
      {"a local token, the visitor of another subject", kTheirs, {"v", "me", false}, own},
  };
  for (const auto& c : cases) {
    CAPTURE(c.what);
    CHECK((claim_session(session, c.owner, c.caller) == c.claim));
  }
}

}  // namespace claim_test
