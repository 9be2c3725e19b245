// The IndexLease, and index runs that are killed or lose it.
#include <doctest/doctest.h>
#include <unistd.h>

#include "store/child_process.h"
#include "store/postgres/index_lease.h"
#include "store/postgres_fixtures.h"

namespace postgres_index_lease_test {

using namespace stoka;
using namespace stoka::store;
using namespace stoka::store::postgres;
using stoka::testing::ChildProcess;
using stoka::testing::TestDatabase;

TEST_CASE(
    "an index writer killed at any point leaves whole documents, and its lease is free at once") {
  if (!many_backends()) return;
  const TestDatabase db;
  const auto watcher = open_store(db.url());
  const auto generation = [&] { return must(watcher->stats()).generation; };
  for (int round = 0; round < 8; ++round) {
    const uint64_t target_generation = generation() + static_cast<uint64_t>(round);
    ChildProcess child([&] {
      write_versions(db.url(), 1000 * round, [](IndexWriter& writer, int n) {
        return n % 23 != 22 || writer.finish(Instant());
      });
    });
    // Each round kills the child after more steps, at an arbitrary instruction.
    REQUIRE(eventually([&] { return generation() > target_generation; }));
    usleep(static_cast<useconds_t>(round * 1370 % 19000));
    child.kill();

    const auto store = open_store(db.url());
    const auto writer = must(store->begin_index());
    CHECK(db.sql(kCountInconsistencies) == "0");
    CHECK(db.sql("SELECT count(*) FROM stoka_documents d WHERE chunks <> (SELECT count(*) FROM "
                 "stoka_chunks WHERE source_slug = slug AND section = 'version ' || "
                 "content_hash)") == "0");
    if (round % 4 == 3) check_consistency(*store);
  }
  // A complete run leaves the same index as without the killed ones.
  const auto store = open_store(db.url());
  const auto writer = must(store->begin_index());
  for (int n = 0; n < 7; ++n) {
    const std::string slug = "post-" + std::to_string(n);
    must(writer->put_document(versioned_document(slug, n), versioned_chunks(slug, n)));
  }
  must(writer->finish(Instant()));
  CHECK(must(store->documents()).size() == 7);
  CHECK_FALSE(must(store->stats()).unfinished);
  CHECK(db.sql(kCountInconsistencies) == "0");
  check_consistency(*store);
}

TEST_CASE("the lease of an index writer killed during a long statement becomes free") {
  if (!many_backends()) return;
  const TestDatabase db;
  {
    const auto writer = must(open_store(db.url())->begin_index());
    must(writer->put_document(versioned_document("a", 1), versioned_chunks("a", 1)));
  }
  // The trigger makes the update of the vectors slow.
  db.sql(
      "CREATE FUNCTION slow() RETURNS TRIGGER LANGUAGE plpgsql AS "
      "'BEGIN PERFORM pg_sleep(600); RETURN NEW; END'; "
      "CREATE TRIGGER slow BEFORE UPDATE ON stoka_chunks FOR EACH ROW EXECUTE FUNCTION slow()");
  ChildProcess child([&] {
    auto store = store::open(db.url(), OpenMode::read_write);
    if (!store) return;
    auto writer = (*store)->begin_index();
    if (!writer) return;
    static_cast<void>((*writer)->replace_basis({}, 4, 1, [](ChunkId) {
      return std::vector<float>{0, 1, 0, 0};
    }));
  });
  const std::string sleeping =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
      "AND query LIKE 'UPDATE stoka_chunks%'";
  REQUIRE(eventually([&] { return db.sql(sleeping) != "0"; }));
  child.kill();
  const auto store = open_store(db.url());
  const auto writer = must(store->begin_index());
  CHECK(db.sql(sleeping) == "0");
  check_consistency(*store);
}

TEST_CASE("an index run whose lease has expired and was taken cannot write any more") {
  const TestDatabase db;
  const auto store = open_store(db.url());
  auto lost = must(store->begin_index());
  must(lost->put_document(versioned_document("a", 1), versioned_chunks("a", 1)));
  db.sql("UPDATE stoka_index SET writer_until = now() - interval '1 second'");
  const auto other = open_store(db.url());
  auto writer = must(other->begin_index());

  const Result<> refusals[] = {
      lost->put_document(versioned_document("a", 2), versioned_chunks("a", 2)),
      lost->remove_document("a"),
      lost->set_identity({"other", 0, "", ""}),
      lost->clear(),
      lost->replace_basis({}, 4, 1, [](ChunkId) { return std::vector<float>(); }),
      lost->finish(Instant()),
  };
  for (const Result<>& refused : refusals) {
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::busy);
    CHECK(refused.error().message == "another index run took over the index");
    CHECK_FALSE(refused.error().hint.empty());
  }
  lost.reset();
  const auto third = store->begin_index();
  REQUIRE_FALSE(third);
  CHECK(third.error().message.find("another index run holds the index: ") == 0);
  CHECK(third.error().message.find(" pid " + std::to_string(getpid())) != std::string::npos);
  CHECK(third.error().hint.find("wait for it, or end that process") == 0);
  check_consistency(*store);
  must(writer->put_document(versioned_document("a", 3), versioned_chunks("a", 3)));
  check_consistency(*store);
}

TEST_CASE("an index run whose connection is terminated continues and keeps the lease") {
  if (!many_backends()) return;
  const TestDatabase db;
  const auto store = open_store(db.url());
  const auto writer = must(store->begin_index());
  const std::string terminate =
      "SELECT pg_terminate_backend(writer_backend, 5000) FROM stoka_index";
  for (int n = 0; n < 5; ++n) {
    must(writer->put_document(versioned_document("a", n), versioned_chunks("a", n)));
    CHECK(db.sql(terminate) == "t");
  }
  must(writer->put_document(versioned_document("b", 6), versioned_chunks("b", 6)));
  const auto refused = store->begin_index();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::busy);
  check_consistency(*store);
}

TEST_CASE("a writer of another role, whose connection is hidden, keeps the lease") {
  const auto database = RestartableDatabase::make();
  if (!database) return;
  database->sql(
      "CREATE EXTENSION vector; CREATE ROLE one LOGIN PASSWORD 'pw'; "
      "GRANT CREATE ON SCHEMA public TO one");
  const auto mine =
      open_store("postgres://one:pw@127.0.0.1:" + std::to_string(database->server.port()) + "/" +
                 database->name);
  // A superuser, whose connections are hidden from other roles.
  const auto others = open_store(database->server.url(database->name));
  auto writer = must(others->begin_index());
  const auto refused = mine->begin_index();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::busy);
  writer.reset();
  CHECK(mine->begin_index());
}

TEST_CASE("a role that does not own the tables is refused before anything is written") {
  const auto database = RestartableDatabase::make();
  if (!database) return;
  const auto owners = open_store(database->server.url(database->name));
  database->sql(
      "CREATE ROLE guest LOGIN PASSWORD 'pw'; "
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest");
  const auto guests =
      open_store("postgres://guest:pw@127.0.0.1:" + std::to_string(database->server.port()) + "/" +
                 database->name);
  const auto refused = guests->begin_index();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::config);
  CHECK(refused.error().message == "role guest does not own the index, stoka does");
  CHECK(refused.error().hint == "connect as stoka, or: GRANT stoka TO guest");
}

TEST_CASE("an index run continues after a restart of the server") {
  const auto database = RestartableDatabase::make();
  if (!database) return;
  const auto store = open_store(database->url());
  const auto writer = must(store->begin_index());
  must(writer->put_document(versioned_document("a", 1), versioned_chunks("a", 1)));
  database->server.kill();
  const auto refused = writer->put_document(versioned_document("a", 2), versioned_chunks("a", 2));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::unavailable);
  database->server.start();
  REQUIRE(eventually([&] {
    return writer->put_document(versioned_document("b", 3), versioned_chunks("b", 3)).has_value();
  }));
  CHECK(must(store->documents()).size() == 2);
  check_consistency(*store);
}

}  // namespace postgres_index_lease_test
