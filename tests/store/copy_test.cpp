#include "store/copy.h"

#include <doctest/doctest.h>

#include <functional>

#include "store/corpus.h"
#include "store/open.h"
#include "store/temp_database.h"
#include "support/postgres.h"

namespace copy_test {

using namespace stoka;
using namespace stoka::store;

namespace {

const SystemClock kClock;

std::unique_ptr<Store> must_open(const std::string& url) {
  auto store = store::open(url, OpenMode::read_write);
  REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
  return std::move(*store);
}

std::string id(int n) {
  std::string digits = std::to_string(n);
  return "00000000-0000-4000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

TurnRecord turn(int session, int visitor, int64_t at) {
  TurnRecord out;
  out.session_id = id(session);
  out.visitor_id = id(visitor);
  out.cited_slugs = {"slug-" + std::to_string(at)};
  out.topic = "topic-" + std::to_string(at);
  out.exchange = {"asked", "answered", {{out.cited_slugs.front(), "Title", "Quote", "/url"}}};
  out.at = Instant(std::chrono::milliseconds(at));
  return out;
}

// Opens two stores, for each pair of kinds.
void each_pair(const std::function<void(Store& from, Store& to)>& work) {
  SUBCASE("SQLite to SQLite") {
    const TempDatabase a, b;
    work(*must_open(a.db()), *must_open(b.db()));
  }
  SUBCASE("SQLite to PostgreSQL") {
    const TempDatabase a;
    const testing::TestDatabase b;
    work(*must_open(a.db()), *must_open(b.url()));
  }
  SUBCASE("PostgreSQL to SQLite") {
    const testing::TestDatabase a;
    const TempDatabase b;
    work(*must_open(a.url()), *must_open(b.db()));
  }
}

const IndexIdentity kIdentity = {"tei:model@1", 4, "v1 max=512 overlap=64 prefix=full", "q: "};

void fill(Store& store, Corpus& corpus) {
  auto writer = store.begin_index();
  REQUIRE(writer);
  REQUIRE((*writer)->set_identity(kIdentity));
  for (int i = 0; i < 12; ++i) corpus.put(**writer, "post-" + std::to_string(i));
  REQUIRE((*writer)->finish(Instant(std::chrono::milliseconds(1234))));
}

}  // namespace

TEST_CASE("searches of a copied index return what those of the source return") {
  each_pair([](Store& from, Store& to) {
    Corpus corpus(11);
    fill(from, corpus);
    const auto report = copy(from, to, false, kClock);
    REQUIRE_MESSAGE(report, (report ? "" : report.error().message));
    CHECK(report->documents == 12);
    corpus.check(to);
    CHECK((**to.identity() == kIdentity));
    CHECK((to.stats()->indexed_at == Instant(std::chrono::milliseconds(1234))));
    CHECK_FALSE(to.stats()->unfinished);

    const uint64_t generation = to.stats()->generation;
    auto writer = from.begin_index();
    REQUIRE(writer);
    corpus.put(**writer, "post-3");
    REQUIRE((*writer)->finish(Instant(std::chrono::milliseconds(1300))));
    const auto again = copy(from, to, false, kClock);
    REQUIRE(again);
    CHECK(again->unchanged + again->documents == 12);
    CHECK(to.stats()->generation > generation);
  });
}

TEST_CASE("the LSA basis is copied with its vectors, and a second copy changes nothing") {
  each_pair([](Store& from, Store& to) {
    {
      auto writer = from.begin_index();
      REQUIRE(writer);
      REQUIRE((*writer)->set_identity({"builtin-lsa", 0, "v1", ""}));
      for (const char* slug : {"a", "b", "c"}) {
        const ChunkRecord chunks[] = {make_chunk(slug, 0, {{"t1", 1}}),
                                      make_chunk(slug, 1, {{"t2", 2}})};
        REQUIRE((*writer)->put_document(make_document(slug), chunks));
      }
      ChunkId nth = 0;
      REQUIRE((*writer)->replace_basis(
          std::vector<BasisRow>{{"t1", 0.5F, {1, 2}}, {"t2", 1.5F, {3, 4}}}, 2, 6, [&](ChunkId) {
            return ++nth % 2 ? std::vector<float>{1, 0} : std::vector<float>{0.6F, 0.8F};
          }));
      REQUIRE((*writer)->finish(Instant()));
    }
    REQUIRE(copy(from, to, false, kClock));
    CHECK(*to.basis() == *from.basis());
    CHECK(to.stats()->vectors == 6);
    CHECK(to.stats()->dim == 2);
    CHECK(to.stats()->fitted_chunks == 6);
    const float query[] = {0, 1};
    CHECK((with_slugs(to, *to.search_dense(query, 6, {})) ==
           with_slugs(from, *from.search_dense(query, 6, {}))));
    // Only the end of the index run was written again.
    const uint64_t generation = to.stats()->generation;
    REQUIRE(copy(from, to, false, kClock));
    CHECK(to.stats()->generation == generation + 1);
  });
}

TEST_CASE("a cancelled copy continues when it is run again") {
  each_pair([](Store& from, Store& to) {
    Corpus corpus(12);
    fill(from, corpus);
    for (const size_t after : {0U, 1U, 7U, 11U}) {
      std::stop_source stop;
      const auto broken = copy(
          from, to, false, kClock,
          [&](std::string_view, size_t done, size_t) {
            if (done >= after) stop.request_stop();
          },
          stop.get_token());
      REQUIRE_FALSE(broken);
      CHECK(broken.error().kind == ErrorKind::cancelled);
      CHECK(to.documents()->size() == after);
      CHECK(to.stats()->unfinished == (after > 0));
    }
    const auto rest = copy(from, to, false, kClock);
    REQUIRE(rest);
    CHECK(rest->unchanged == 11);
    CHECK(rest->documents == 1);
    corpus.check(to);
  });
}

TEST_CASE("other contents of the target give an error unless pruning is requested") {
  each_pair([](Store& from, Store& to) {
    Corpus corpus(13), other(14);
    fill(from, corpus);
    {
      auto writer = to.begin_index();
      REQUIRE(writer);
      SUBCASE("another document in the target") { REQUIRE((*writer)->set_identity(kIdentity)); }
      SUBCASE("a target made with another model") {
        REQUIRE(
            (*writer)->set_identity({"tei:other@1", 4, "v1 max=512 overlap=64 prefix=full", ""}));
      }
      other.put(**writer, "only-there");
      REQUIRE((*writer)->finish(Instant()));
    }
    const auto refused = copy(from, to, false, kClock);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::config);
    CHECK(refused.error().hint.find("--prune") != std::string::npos);
    other.check(to);
    const auto pruned = copy(from, to, true, kClock);
    REQUIRE(pruned);
    CHECK(pruned->removed == 1);
    corpus.check(to);
    CHECK((**to.identity() == kIdentity));
  });
}

TEST_CASE("sessions and visitors are copied and merged, and later activity in the target is kept") {
  each_pair([](Store& from, Store& to) {
    for (int i = 0; i < 600; ++i) REQUIRE(from.commit_turn(turn(1000 + i, 5000 + i, i)));
    TurnRecord known = turn(1, 2, 10);
    known.subject = "auth|1";
    REQUIRE(from.commit_turn(known));
    // In the target the same person has another visitor, and a session was continued.
    TurnRecord elsewhere = turn(3, 4, 20);
    elsewhere.subject = "auth|1";
    REQUIRE(to.commit_turn(elsewhere));
    REQUIRE(to.commit_turn(turn(1000, 5000, 7000)));

    for (int round = 0; round < 2; ++round) {
      const auto report = copy(from, to, false, kClock);
      REQUIRE_MESSAGE(report, (report ? "" : report.error().message));
      CHECK(report->visitors == 601);
      CHECK(report->sessions == 601);
      CHECK(report->skipped == 0);
      CHECK(to.session(id(1599))->value().current_topic() == "topic-599");
      CHECK(to.session(id(1))->value().visitor_id == id(4));
      CHECK_FALSE(to.visitor(id(2))->has_value());
      const Session gone_on = to.session(id(1000))->value();
      CHECK(gone_on.current_topic() == "topic-7000");
      CHECK(gone_on.has_shown("slug-0"));
      CHECK(gone_on.has_shown("slug-7000"));
      CHECK(gone_on.turns == 1);
    }
  });
}

TEST_CASE("a copy fails if an index run is under way") {
  each_pair([](Store& from, Store& to) {
    Corpus corpus(15);
    fill(from, corpus);
    SUBCASE("an index run on the target") {
      const auto writer = to.begin_index();
      REQUIRE(writer);
      const auto refused = copy(from, to, false, kClock);
      REQUIRE_FALSE(refused);
      CHECK(refused.error().kind == ErrorKind::busy);
    }
    SUBCASE("an index run that changes the source meanwhile") {
      auto writer = from.begin_index();
      REQUIRE(writer);
      const auto refused =
          copy(from, to, false, kClock, [&](std::string_view what, size_t done, size_t) {
            if (what == "documents" && done == 2) corpus.remove(**writer, "post-0");
          });
      REQUIRE_FALSE(refused);
      CHECK(refused.error().kind == ErrorKind::data);
      REQUIRE((*writer)->finish(Instant()));
      REQUIRE(copy(from, to, true, kClock));
      corpus.check(to);
    }
  });
}

}  // namespace copy_test
