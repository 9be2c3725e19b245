#include <doctest/doctest.h>

#include <thread>

#include "store/corpus.h"
#include "store/open.h"
#include "support/postgres.h"

namespace postgres_open_test {

using namespace stoka;
using namespace stoka::store;
using testing::TestDatabase;

TEST_CASE("an empty database cannot be read, and opening it for writing creates the tables") {
  const TestDatabase database;
  const auto missing = store::open(database.url(), OpenMode::read);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == ErrorKind::not_found);
  CHECK_FALSE(missing.error().hint.empty());
  for (int n = 0; n < 2; ++n) {
    const auto store = store::open(database.url(), OpenMode::read_write);
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
  }
  const auto store = store::open(database.url(), OpenMode::read);
  REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
  CHECK((*store)->describe().starts_with("postgres://"));
  CHECK((*store)->describe().find('?') == std::string::npos);
  CHECK_FALSE((*store)->identity()->has_value());
  // Turns are stored in OpenMode::read too.
  TurnRecord turn;
  turn.session_id = uuid("s");
  turn.visitor_id = uuid("v");
  CHECK((*store)->commit_turn(turn));
}

TEST_CASE("a malformed PostgreSQL URL is refused with the valid forms") {
  for (const char* url : {"postgres:user:secret@host/db", "postgresql+psycopg://u:secret@host/db",
                          "postgres:/host/db", "postgresqls://u:secret@host/db"}) {
    CAPTURE(url);
    const auto store = store::open(url, OpenMode::read_write);
    REQUIRE_FALSE(store);
    CHECK(store.error().kind == ErrorKind::config);
    CHECK(store.error().message.find("secret") == std::string::npos);
    CHECK(store.error().hint == "use sqlite:PATH, a path, or postgres://USER@HOST/DATABASE");
  }
}

TEST_CASE("one connection is enough for all operations and many threads") {
  const TestDatabase database;
  auto opened = store::open(database.url(), OpenMode::read_write, {.connections = 1});
  REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().message));
  Store& store = **opened;
  Corpus corpus(3);
  auto writer = store.begin_index();
  REQUIRE_MESSAGE(writer, (writer ? "" : writer.error().message));
  for (int n = 0; n < 5; ++n) corpus.put(**writer, "post-" + std::to_string(n));
  corpus.check(store);
  // Within each_chunk_terms() of the writer.
  std::vector<ChunkId> ids;
  REQUIRE((*writer)->each_chunk_terms([&](ChunkId id, std::span<const TermCount>) {
    ids.push_back(id);
    return store.chunks(std::vector{id})->size() == 1;
  }));
  CHECK(ids.size() == store.stats()->chunks);
  REQUIRE((*writer)->replace_basis(std::vector<BasisRow>{{"t1", 1, {1, 2}}}, 2, 1, [](ChunkId) {
    return std::vector<float>{1, 0};
  }));
  REQUIRE((*writer)->finish(Instant()));
  writer->reset();
  CHECK(store.basis()->size() == 1);
  CHECK(store.chunk_terms(ids)->size() == ids.size());

  std::vector<std::string> wrong(20);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      TurnRecord turn;
      turn.session_id = uuid("s");
      turn.visitor_id = uuid("v");
      turn.cited_slugs = {std::to_string(i)};
      const auto found = store.search_lexical(std::vector<QueryTerm>{{"t0", 1}}, 5, {});
      const auto session = store.commit_turn(turn);
      if (!found) wrong[i] = found.error().message;
      if (!session) wrong[i] = session.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& complaint : wrong) CHECK(complaint == "");
  CHECK(store.session(uuid("s"))->value().turns == 20);
}

}  // namespace postgres_open_test
