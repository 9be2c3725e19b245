#include "store/merge.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "store/corpus.h"
#include "store/store.h"

namespace merge_test {

using namespace stoka;
using namespace stoka::store;

namespace {

using Texts = std::vector<std::string>;

Instant at(int64_t ms) { return Instant(std::chrono::milliseconds(ms)); }

Visitor visitor(const std::string& name, const std::string& subject, int64_t seen) {
  Visitor made;
  made.id = uuid(name);
  made.subject = subject;
  made.interests = {"of " + name};
  made.history = {{"page-" + name, at(seen), 10}};
  made.first_seen = at(seen);
  made.last_seen = at(seen);
  return made;
}

TurnRecord turn(const std::string& subject) {
  TurnRecord record;
  record.session_id = uuid("s");
  record.visitor_id = uuid("v");
  record.subject = subject;
  record.at = at(50);
  return record;
}

std::string slugs(const std::vector<HistoryEntry>& history) {
  std::string out;
  for (const HistoryEntry& reading : history) out += reading.slug + " ";
  return out;
}

}  // namespace

TEST_CASE("a turn belongs to the visitor with its subject, or else to the one it names") {
  const std::optional<Visitor> nobody;
  const std::optional<Visitor> anonymous = visitor("v", "", 10);
  const std::optional<Visitor> mine = visitor("v", "me", 10);
  const std::optional<Visitor> theirs = visitor("v", "them", 10);
  const std::optional<Visitor> me_elsewhere = visitor("w", "me", 20);
  struct {
    const char* what;
    std::string subject;
    std::optional<Visitor> named, of_subject;
    std::string id;  // empty: a new one
    std::string then_subject;
    bool absorbed;
    Texts interests;
  } const cases[] = {
      {"new", "", nobody, nobody, "v", "", false, {}},
      {"new with a subject", "me", nobody, nobody, "v", "me", false, {}},
      {"known", "", anonymous, nobody, "v", "", false, {"of v"}},
      {"known by subject, the turn is anonymous", "", mine, nobody, "v", "me", false, {"of v"}},
      {"known as the same", "me", mine, mine, "v", "me", false, {"of v"}},
      {"known as the same, not asked for", "me", mine, nobody, "v", "me", false, {"of v"}},
      {"anonymous until now", "me", anonymous, nobody, "v", "me", false, {"of v"}},
      {"known elsewhere", "me", nobody, me_elsewhere, "w", "me", false, {"of w"}},
      {"anonymous, known elsewhere",
       "me",
       anonymous,
       me_elsewhere,
       "w",
       "me",
       true,
       {"of w", "of v"}},
      {"another's, known elsewhere", "me", theirs, me_elsewhere, "w", "me", false, {"of w"}},
      {"another's", "me", theirs, nobody, "", "me", false, {}},
  };
  for (const auto& c : cases) {
    CAPTURE(c.what);
    const ResolvedVisitor owner = resolve_visitor(turn(c.subject), c.named, c.of_subject);
    CHECK(is_valid_id(owner.visitor.id));
    if (c.id.empty()) {
      for (const char* taken : {"v", "w", "s"}) CHECK(owner.visitor.id != uuid(taken));
    } else {
      CHECK(owner.visitor.id == uuid(c.id));
    }
    CHECK(owner.visitor.subject == c.then_subject);
    CHECK(owner.visitor.interests == c.interests);
    CHECK((owner.visitor.last_seen == at(50)));
    CHECK(owner.absorbed.has_value() == c.absorbed);
    if (c.absorbed) CHECK(*owner.absorbed == uuid("v"));
  }
}

TEST_CASE("subjects that name the same visitor id get different visitors") {
  const Visitor known = visitor("v", "one", 10);
  const std::string two = resolve_visitor(turn("two"), known, std::nullopt).visitor.id;
  const std::string three = resolve_visitor(turn("three"), known, std::nullopt).visitor.id;
  CHECK(two != three);
  CHECK(resolve_visitor(turn("two"), known, std::nullopt).visitor.id == two);
}

TEST_CASE("a visitor into whom another one is merged has the readings and interests of both") {
  Visitor known = visitor("w", "me", 20);
  known.interests = {"a", "b"};
  known.history = {{"x", at(20), 1}, {"y", at(21), 2}};
  Visitor other = visitor("v", "", 10);
  other.interests = {"b", "c"};
  other.history = {{"x", at(30), 3}, {"z", at(5), 4}};
  absorb(known, other);
  CHECK(known.interests == Texts{"a", "b", "c"});
  CHECK(slugs(known.history) == "z y x ");
  CHECK(known.history.back().scroll_pct == 3);
  CHECK((known.first_seen == at(10)));
  CHECK((known.last_seen == at(20)));
}

TEST_CASE("the latest reading of each page is kept, at most 500 in all") {
  struct {
    std::vector<HistoryEntry> known, read;
    std::string slugs;
  } const cases[] = {
      {{}, {}, ""},
      {{{"b", at(2), 1}, {"a", at(1), 1}}, {}, "a b "},
      {{{"a", at(1), 1}}, {{"b", at(0), 1}}, "b a "},
      {{{"a", at(1), 1}, {"b", at(2), 1}}, {{"a", at(3), 1}}, "b a "},
      {{{"a", at(5), 1}}, {{"a", at(3), 1}, {"a", at(4), 1}}, "a "},
      {{{"", at(5), 1}}, {{"", at(3), 1}}, ""},
      {{{"x\xFF", at(5), 1}}, {{std::string("x\0", 2), at(6), 1}}, "x\xEF\xBF\xBD "},
  };
  for (const auto& c : cases) {
    std::vector<HistoryEntry> history = c.known;
    merge_readings(history, c.read);
    CHECK(slugs(history) == c.slugs);
  }
  std::vector<HistoryEntry> history = {{"page", at(7), 30}};
  const HistoryEntry same_time[] = {{"page", at(7), 90}};
  merge_readings(history, same_time);
  CHECK(history.front().scroll_pct == 90);

  std::vector<HistoryEntry> many;
  for (int i = 0; i < 520; ++i) many.push_back({"p" + std::to_string(i), at(1000 - i), 1});
  history.clear();
  merge_readings(history, many);
  REQUIRE(history.size() == kMaxReadings);
  CHECK(history.front().slug == "p499");
  CHECK(history.back().slug == "p0");
}

TEST_CASE("a turn adds its citations and its exchange to the session") {
  TurnRecord record = turn("");
  record.cited_slugs = {"a", "b", "a"};
  record.topic = "t";
  record.exchange.user = "question";
  Session session = session_after_turn(record, std::nullopt, uuid("v"));
  CHECK(session.id == uuid("s"));
  CHECK(session.visitor_id == uuid("v"));
  CHECK((session.started_at == at(50)));
  record.cited_slugs = {"c", "b"};
  record.exchange.user.clear();
  record.at = at(40);
  session = session_after_turn(record, session, uuid("w"));
  CHECK(session.visitor_id == uuid("v"));
  CHECK(session.shown_slugs == Texts{"a", "b", "c"});
  CHECK(session.explored_topics == Texts{"t"});
  CHECK(session.exchanges.size() == 1);
  CHECK(session.turns == 2);
  CHECK((session.last_active == at(50)));
  record.subject = "me";
  record.topic = "\xFF";
  session = session_after_turn(record, session, uuid("w"));
  record.topic = "\xEF\xBF\xBD";
  session = session_after_turn(record, session, uuid("w"));
  CHECK(session.visitor_id == uuid("w"));
  CHECK(session.explored_topics == Texts{"t", "\xEF\xBF\xBD"});
}

TEST_CASE("only the latest exchanges of a session are kept") {
  std::optional<Session> session;
  for (int i = 0; i < 25; ++i) {
    TurnRecord record = turn("");
    record.exchange.user = std::to_string(i);
    session = session_after_turn(record, session, uuid("v"));
  }
  REQUIRE(session->exchanges.size() == kMaxExchanges);
  CHECK(session->exchanges.front().user == "15");
  CHECK(session->turns == 25);
}

TEST_CASE("interests are replaced only if they are given") {
  Visitor known = visitor_after_update(uuid("v"), std::nullopt, Texts{"a"}, {}, at(5));
  CHECK(known.id == uuid("v"));
  CHECK((known.first_seen == at(5)));
  known = visitor_after_update(uuid("v"), known, std::nullopt, {}, at(3));
  CHECK(known.interests == Texts{"a"});
  CHECK((known.first_seen == at(5)));
  CHECK((known.last_seen == at(5)));
  known = visitor_after_update(uuid("v"), known, Texts{}, {}, at(9));
  CHECK(known.interests.empty());
  CHECK((known.last_seen == at(9)));
}

TEST_CASE("merging a copied row twice changes nothing the second time") {
  Visitor copied = visitor("v", "", 10);
  copied.history = {{"b", at(9), 1}, {"a", at(3), 1}, {"b", at(1), 7}, {"", at(2), 1}};
  copied.interests = {"x\xFF", "x"};
  Session session;
  session.id = uuid("s");
  session.visitor_id = uuid("v");
  session.shown_slugs = {"a", "a", "b\xFF"};
  session.exchanges.resize(14);
  session.turns = 14;
  const Visitor once = after_copy(copied, std::nullopt);
  const Visitor twice = after_copy(copied, once);
  CHECK(slugs(once.history) == "a b ");
  CHECK(slugs(twice.history) == "a b ");
  CHECK(once.history.back().scroll_pct == 1);
  CHECK(twice.interests == once.interests);
  const Session first = after_copy(session, std::nullopt);
  const Session second = after_copy(session, first);
  CHECK(first.shown_slugs == Texts{"a", "b\xEF\xBF\xBD"});
  CHECK(second.shown_slugs == first.shown_slugs);
  CHECK(first.exchanges.size() == kMaxExchanges);
  CHECK(second.turns == 14);
}

TEST_CASE("the interests of the visitor or copy that was seen later win, and no subject is lost") {
  for (const bool copied_later : {true, false}) {
    Visitor known = visitor("v", copied_later ? "me" : "", copied_later ? 10 : 20);
    Visitor copied = visitor("v", copied_later ? "" : "me", copied_later ? 20 : 10);
    known.interests = {"known"};
    copied.interests = {"copied"};
    const Visitor merged = after_copy(copied, known);
    CHECK(merged.interests == Texts{copied_later ? "copied" : "known"});
    CHECK(merged.subject == "me");
    CHECK((merged.first_seen == at(10)));
    CHECK((merged.last_seen == at(20)));
  }
}

TEST_CASE("a copied visitor is merged by id and by subject") {
  const std::optional<Visitor> nobody;
  const std::optional<Visitor> anonymous = visitor("v", "", 10);
  const std::optional<Visitor> mine = visitor("v", "me", 10);
  const std::optional<Visitor> theirs = visitor("v", "them", 10);
  const std::optional<Visitor> me_elsewhere = visitor("w", "me", 20);
  struct {
    const char* what;
    std::string subject;
    std::optional<Visitor> known, of_subject;
    std::string id;  // empty: an error is expected
    std::string then_subject;
    bool absorbed;
  } const cases[] = {
      {"new", "", nobody, nobody, "v", "", false},
      {"new with a subject", "me", nobody, nobody, "v", "me", false},
      {"known", "", anonymous, nobody, "v", "", false},
      {"known, its subject is new here", "me", anonymous, nobody, "v", "me", false},
      {"known by subject, the copy is older", "", mine, nobody, "v", "me", false},
      {"known by subject", "me", mine, mine, "v", "me", false},
      {"of somebody who is here", "me", nobody, me_elsewhere, "w", "me", false},
      {"of somebody who is here twice", "me", anonymous, me_elsewhere, "w", "me", true},
      {"another's", "me", theirs, nobody, "", "", false},
      {"another's, known elsewhere", "me", theirs, me_elsewhere, "", "", false},
  };
  for (const auto& c : cases) {
    CAPTURE(c.what);
    const auto owner = resolve_copied_visitor(visitor("v", c.subject, 15), c.known, c.of_subject);
    CHECK(owner.has_value() == !c.id.empty());
    if (!owner) {
      CHECK(owner.error().kind == ErrorKind::data);
      CHECK(owner.error().message.find(uuid("v")) != std::string::npos);
      continue;
    }
    CHECK(owner->visitor.id == uuid(c.id));
    CHECK(owner->visitor.subject == c.then_subject);
    CHECK(owner->absorbed.has_value() == c.absorbed);
    const Texts& interests = owner->visitor.interests;
    CHECK(std::count(interests.begin(), interests.end(), "of v") == 1);
  }
}

TEST_CASE("rows with an invalid id or subject are refused") {
  struct {
    std::string session, visitor, subject;
    bool good;
  } const cases[] = {
      {uuid("s"), uuid("v"), "", true},
      {uuid("s"), uuid("v"), "auth|1 \xC3\xA9", true},
      {"", uuid("v"), "", false},
      {uuid("s"), "v", "", false},
      {uuid("s"), "ABCDEF00-0000-4000-8000-000000000000", "", false},
      {uuid("s"), uuid("v"), std::string("a\0", 2), false},
      {uuid("s"), uuid("v"), "a\xFF", false},
  };
  for (const auto& c : cases) {
    CAPTURE(c.session + " " + c.visitor + " " + c.subject);
    TurnRecord record;
    record.session_id = c.session;
    record.visitor_id = c.visitor;
    record.subject = c.subject;
    CHECK(validate(record).has_value() == c.good);
    Visitor of_visitor;
    of_visitor.id = c.visitor;
    of_visitor.subject = c.subject;
    Session of_session;
    of_session.id = c.session;
    of_session.visitor_id = c.visitor;
    CHECK((validate(of_visitor) && validate(of_session)) == c.good);
  }
}

}  // namespace merge_test
