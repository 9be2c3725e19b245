#include "pipeline/profile.h"

#include <doctest/doctest.h>

#include "support/site_fixture.h"

namespace profile_test {

using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kVisitor = "22222222-2222-4222-8222-222222222222";
constexpr const char* kOther = "33333333-3333-4333-8333-333333333333";
const std::vector<std::string> kInterests = {"Systems", "Bounded Execution"};

// Saves a turn, which links the visitor to the subject.
void link(store::Store& store, const std::string& visitor, const std::string& subject) {
  TurnRecord turn;
  turn.session_id = "11111111-1111-4111-8111-111111111111";
  turn.visitor_id = visitor;
  turn.subject = subject;
  REQUIRE(store.commit_turn(turn));
}

}  // namespace

TEST_CASE("the profile of an unknown visitor is not found until it is set") {
  SiteFixture fixture(false);
  const Caller caller{kVisitor, "", true};
  const auto missing = pipeline::profile(*fixture.store, caller);
  REQUIRE(!missing);
  CHECK(missing.error().kind == ErrorKind::not_found);
  CHECK(missing.error().message == std::string("there is no visitor ") + kVisitor);
  REQUIRE(pipeline::update_profile(*fixture.store, *fixture.store, caller, kInterests, {}, kNow));
  const auto known = pipeline::profile(*fixture.store, caller);
  REQUIRE(known);
  CHECK(known->interests == std::vector<std::string>{"systems", "bounded-execution"});
}

TEST_CASE("a subject without a visitor has no profile") {
  SiteFixture fixture(false);
  const auto missing = pipeline::profile(*fixture.store, {"", "me", true});
  REQUIRE(!missing);
  CHECK(missing.error().kind == ErrorKind::not_found);
  CHECK(missing.error().message == "there is no visitor with this subject");
}

TEST_CASE("a visitor with a subject is found by it, and by nobody else on another machine") {
  SiteFixture fixture(false);
  store::Store& store = *fixture.store;
  link(store, kVisitor, "me");
  for (const Caller& caller : {Caller{"", "me", true}, Caller{kOther, "me", true},
                               Caller{kVisitor, "me", true}, Caller{kVisitor, "", false}}) {
    const auto updated = pipeline::update_profile(store, store, caller, kInterests, {}, kNow);
    REQUIRE(updated);
    CHECK(updated->id == kVisitor);
    const auto found = pipeline::profile(store, caller);
    REQUIRE(found);
    CHECK(found->id == kVisitor);
  }
  for (const Caller& caller : {Caller{kVisitor, "", true}, Caller{kVisitor, "them", true}}) {
    const auto found = pipeline::profile(store, caller);
    REQUIRE(!found);
    CHECK(found.error().kind == ErrorKind::not_found);
    const auto updated =
        pipeline::update_profile(store, store, caller, std::vector<std::string>{}, {}, kNow);
    REQUIRE(!updated);
    CHECK(updated.error().kind == ErrorKind::not_found);
    CHECK(updated.error().message == found.error().message);
  }
  CHECK(store.visitor(kVisitor).value()->interests.size() == 2);
}

}  // namespace profile_test
