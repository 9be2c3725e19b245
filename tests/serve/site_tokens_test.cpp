#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "serve/server_fixture.h"
#include "serve/tokens.h"

namespace site_tokens_test {

using namespace std::chrono_literals;
using namespace stoka;
using namespace stoka::testing;

namespace {

constexpr const char* kVisitor = "22222222-2222-4222-8222-222222222222";

std::string profile_of(const char* visitor) {
  return "/api/stoka/profile?visitor_id=" + std::string(visitor);
}

}  // namespace

TEST_CASE("an invalid token is ignored by chat and refused by profile") {
  ServerFixture fixture;
  with_tokens(fixture);
  Json expired = claims(), foreign = claims(), bare = claims();
  expired["exp"] = in(-600s);
  foreign["aud"] = "other";
  bare.erase("exp");
  const std::string good = token(claims());
  const std::string none = url64(R"({"alg":"none"})") + "." + url64(claims().dump()) + ".";
  for (const std::string& bad :
       {none, token(claims(), R"({"alg":"none"})"), token(claims(), R"({"alg":"RS256"})"),
        token(expired), token(foreign), token(bare), good + "x", good.substr(0, good.rfind('.')),
        std::string("x")}) {
    CAPTURE(bad);
    const HttpReply answer =
        fixture.ask(chat({{"query", "what is this?"}, {"visitor_id", kVisitor}}, bearer(bad)));
    CHECK(answer.status == 200);
    CHECK(answer.event("done").is_object());
    for (const std::string& request :
         {get(profile_of(kVisitor), bearer(bad)),
          post("/api/stoka/profile", Json{{"visitor_id", kVisitor}, {"interests", {"x"}}}.dump(),
               bearer(bad))}) {
      const HttpReply reply = fixture.ask(request);
      CHECK(reply.status == 401);
      CHECK(reply.header("www-authenticate") == "Bearer");
      if (bad.size() > 2) CHECK(reply.body.find(bad) == std::string::npos);
    }
  }
  // No invalid token has bound the visitor to a subject.
  CHECK(fixture.ask(get(profile_of(kVisitor))).status == 200);
}

TEST_CASE("a valid token binds the visitor to its subject") {
  ServerFixture fixture;
  with_tokens(fixture);
  const std::string mine = bearer(token(claims()));
  const std::string theirs = bearer(token(claims("somebody else")));
  const Json update = {{"visitor_id", kVisitor}, {"interests", {"systems"}}};
  CHECK(fixture.ask(post("/api/stoka/profile", update.dump())).status == 200);
  CHECK(fixture.ask(get(profile_of(kVisitor))).json()["interests"] == Json{"systems"});

  CHECK(fixture.ask(chat({{"query", "what is this?"}, {"visitor_id", kVisitor}}, mine)).status ==
        200);
  CHECK(fixture.ask(get(profile_of(kVisitor), mine)).json()["interests"] == Json{"systems"});
  for (const std::string& header : {std::string(), theirs}) {
    CHECK(fixture.ask(get(profile_of(kVisitor), header)).status == 404);
    CHECK(fixture.ask(post("/api/stoka/profile", update.dump(), header)).status == 404);
    Json loud = update;
    loud["visitor_id"] = "ABCDEF22-2222-4222-8222-222222222222";
    CHECK(fixture.ask(post("/api/stoka/profile", loud.dump(), header)).status == 200);
  }
  CHECK(fixture.ask(get(profile_of(kVisitor), mine)).status == 200);
  CHECK(fixture.ask(get(profile_of(kVisitor), "Authorization: Basic eDp5\r\n")).status == 404);
}

TEST_CASE("without keys every token is invalid") {
  ServerFixture fixture;
  CHECK(fixture.ask(get(profile_of(kVisitor), bearer(token(claims())))).status == 401);
  CHECK(fixture.ask(chat({{"query", "what is this?"}}, bearer(token(claims())))).status == 200);
}

}  // namespace site_tokens_test
