// An index run on PostgreSQL: who holds the index, runs that die, and what a document costs.
#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "store/child.h"
#include "store/corpus.h"
#include "store/open.h"
#include "store/postgres/index_writer.h"
#include "store/temp_place.h"
#include "support/postgres.h"
#include "support/postgres_programs.h"

using namespace stoka;
using namespace stoka::store;
using stoka::testing::PostgresPrograms;
using stoka::testing::PostgresServer;
using stoka::testing::TestDatabase;
namespace fs = std::filesystem;

namespace {

template <class T>
T need(Result<T> result) {
  REQUIRE_MESSAGE(result, (result ? "" : result.error().message));
  return std::move(*result);
}
void need(const Result<>& result) {
  REQUIRE_MESSAGE(result, (result ? "" : result.error().message));
}

std::unique_ptr<Store> open_store(const std::string& url) {
  return need(store::open(url, OpenMode::read_write));
}

bool eventually(const std::function<bool()>& holds) {
  for (int n = 0; n < 1000 && !holds(); ++n)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

// Version n of a document: every chunk and every term says so.
std::vector<ChunkRecord> version(const std::string& slug, int n) {
  std::vector<ChunkRecord> chunks;
  for (int index = 0; index < 1 + n % 4; ++index) {
    const auto all = static_cast<uint32_t>(n % 5 + 1);
    chunks.push_back(make_chunk(
        slug, index,
        {{"t0", all}, {"v" + std::to_string(n), 1}, {"t" + std::to_string(1 + n % 50), 1}},
        {n % 2 ? 1.0F : 0.0F, n % 2 ? 0.0F : 1.0F, 0, 0}));
    chunks.back().chunk.section = "version " + std::to_string(n);
  }
  return chunks;
}

Document versioned(const std::string& slug, int n) {
  Document document = make_document(slug);
  document.content_hash = std::to_string(n);
  return document;
}

// Whole documents only, each of one version; all that is told of the index follows from them.
void check_whole(Store& store) {
  const TempPlace clean;
  const auto reference = open_store(clean.db());
  const auto writer = need(reference->begin_index());
  Corpus corpus(1);
  for (const DocumentInfo& info : need(store.documents())) {
    const std::string& slug = info.document.slug;
    const auto expected = version(slug, std::stoi(info.document.content_hash));
    corpus.put(*writer, slug, expected);
    const auto chunks = need(store.chunks_of(slug));
    REQUIRE(chunks.size() == expected.size());
    for (const StoredChunk& stored : chunks) {
      CHECK(stored.chunk.section == "version " + info.document.content_hash);
    }
  }
  corpus.check(store);
}

// Rows that no other row leads to; a totals row that does not add up.
constexpr const char* kLoose =
    "SELECT (SELECT count(*) FROM stoka_chunks c WHERE NOT EXISTS "
    "(SELECT FROM stoka_documents d WHERE d.slug = c.source_slug)) + "
    "(SELECT count(*) FROM stoka_chunks c WHERE NOT EXISTS "
    "(SELECT FROM stoka_chunk_terms t WHERE t.chunk_id = c.id)) + "
    "(SELECT count(*) FROM stoka_postings p WHERE NOT EXISTS "
    "(SELECT FROM stoka_terms t WHERE t.id = p.term_id)) + "
    "(SELECT count(*) FROM stoka_terms WHERE df <= 0) + "
    "(SELECT count(*) FROM stoka_index i WHERE (documents, chunks, vectors) IS DISTINCT FROM "
    "((SELECT count(*) FROM stoka_documents), (SELECT count(*) FROM stoka_chunks), "
    "(SELECT count(embedding) FROM stoka_chunks)))";

constexpr const char* kVectorIndex =
    "SELECT substring(indexdef FROM 'USING.*') FROM pg_indexes "
    "WHERE schemaname = current_schema() AND indexname = 'stoka_chunks_embedding'";

// A database on a server that these tests may stop; none if it has no pgvector.
struct OwnDatabase {
  PostgresServer& server;
  std::string name = testing::random_name();

  std::string sql(const std::string& statements) const { return server.sql(statements, name); }
  std::string url() const { return server.url(name); }

  static std::optional<OwnDatabase> make(const std::string& options = "") {
    // Every statement into its log; and memory for all that is changed, because readers, too, must
    // write what has no room.
    static PostgresServer one({"log_statement = all", "shared_buffers = 128MB"});
    if (!one.has_vector()) {
      MESSAGE("needs programs of PostgreSQL with pgvector");
      return std::nullopt;
    }
    OwnDatabase database{one};
    one.sql("CREATE DATABASE " + database.name + " " + options, "postgres");
    return database;
  }
};

bool many_backends() {
  if (TestDatabase::many_backends()) return true;
  MESSAGE("needs a server with more than one backend");
  return false;
}

}  // namespace

TEST_CASE("an indexer killed at any point leaves whole documents, and the index free at once") {
  if (!many_backends()) return;
  const TestDatabase place;
  open_store(place.url());
  for (int round = 0; round < 8; ++round) {
    const int before = std::stoi(place.sql("SELECT generation FROM stoka_index"));
    Child child([&] {
      auto store = store::open(place.url(), OpenMode::read_write);
      if (!store) return;
      auto writer = (*store)->begin_index();
      if (!writer) return;
      for (int n = 1000 * round;; ++n) {
        const std::string slug = "post-" + std::to_string(n % 7);
        if (n % 11 == 10) {
          if (!(*writer)->remove_document(slug)) return;
        } else if (!(*writer)->put_document(versioned(slug, n), version(slug, n))) {
          return;
        }
        if (n % 23 == 22 && !(*writer)->finish(Instant())) return;
      }
    });
    // Rounds end after more and more steps, and at whatever instruction the child has reached by
    // then.
    REQUIRE(eventually([&] {
      return std::stoi(place.sql("SELECT generation FROM stoka_index")) > before + round;
    }));
    usleep(static_cast<useconds_t>(round * 1370 % 19000));
    child.kill();

    const auto store = open_store(place.url());
    const auto writer = need(store->begin_index());
    CHECK(place.sql(kLoose) == "0");
    CHECK(place.sql("SELECT count(*) FROM stoka_documents d WHERE chunks <> (SELECT count(*) FROM "
                    "stoka_chunks WHERE source_slug = slug AND section = 'version ' || "
                    "content_hash)") == "0");
    if (round % 4 == 3) check_whole(*store);
  }
  // And the run that comes to its end has what it would have had anyway.
  const auto store = open_store(place.url());
  const auto writer = need(store->begin_index());
  for (int n = 0; n < 7; ++n) {
    const std::string slug = "post-" + std::to_string(n);
    need(writer->put_document(versioned(slug, n), version(slug, n)));
  }
  need(writer->finish(Instant()));
  CHECK(need(store->documents()).size() == 7);
  CHECK_FALSE(need(store->stats()).unfinished);
  CHECK(place.sql(kLoose) == "0");
  check_whole(*store);
}

TEST_CASE("an indexer killed in the middle of a long statement lets the index go") {
  if (!many_backends()) return;
  const TestDatabase place;
  {
    const auto writer = need(open_store(place.url())->begin_index());
    need(writer->put_document(versioned("a", 1), version("a", 1)));
  }
  // Making the index over the vectors takes as long as this trigger wants.
  place.sql(
      "CREATE FUNCTION slow() RETURNS TRIGGER LANGUAGE plpgsql AS "
      "'BEGIN PERFORM pg_sleep(600); RETURN NEW; END'; "
      "CREATE TRIGGER slow BEFORE UPDATE ON stoka_chunks FOR EACH ROW EXECUTE FUNCTION slow()");
  Child child([&] {
    auto store = store::open(place.url(), OpenMode::read_write);
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
  REQUIRE(eventually([&] { return place.sql(sleeping) != "0"; }));
  child.kill();
  const auto store = open_store(place.url());
  const auto writer = need(store->begin_index());
  CHECK(place.sql(sleeping) == "0");
  check_whole(*store);
}

TEST_CASE("a run that others took for dead cannot write any more") {
  const TestDatabase place;
  const auto store = open_store(place.url());
  auto lost = need(store->begin_index());
  need(lost->put_document(versioned("a", 1), version("a", 1)));
  place.sql("UPDATE stoka_index SET writer_until = now() - interval '1 second'");
  const auto other = open_store(place.url());
  auto writer = need(other->begin_index());

  const Result<> refusals[] = {
      lost->put_document(versioned("a", 2), version("a", 2)),
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
  check_whole(*store);
  need(writer->put_document(versioned("a", 3), version("a", 3)));
  check_whole(*store);
}

TEST_CASE("a run goes on when the server throws its connection out, and keeps the index") {
  if (!many_backends()) return;
  const TestDatabase place;
  const auto store = open_store(place.url());
  const auto writer = need(store->begin_index());
  const std::string terminate =
      "SELECT pg_terminate_backend(writer_backend, 5000) FROM stoka_index";
  for (int n = 0; n < 5; ++n) {
    need(writer->put_document(versioned("a", n), version("a", n)));
    CHECK(place.sql(terminate) == "t");
  }
  need(writer->put_document(versioned("b", 6), version("b", 6)));
  const auto refused = store->begin_index();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::busy);
  check_whole(*store);
}

TEST_CASE("the connection of another role is not taken for dead") {
  const auto database = OwnDatabase::make();
  if (!database) return;
  database->sql(
      "CREATE EXTENSION vector; CREATE ROLE one LOGIN PASSWORD 'pw'; "
      "CREATE ROLE two LOGIN PASSWORD 'pw'; GRANT CREATE ON SCHEMA public TO one");
  const auto url = [&](const std::string& role) {
    return "postgres://" + role + ":pw@127.0.0.1:" + std::to_string(database->server.port()) + "/" +
           database->name;
  };
  const auto mine = open_store(url("one"));
  auto writer = need(mine->begin_index());
  database->sql("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO two");
  const auto others = open_store(url("two"));
  const auto refused = others->begin_index();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::busy);
  writer.reset();
  CHECK(others->begin_index());
}

TEST_CASE("a run waits out a restart of the server") {
  const auto database = OwnDatabase::make();
  if (!database) return;
  const auto store = open_store(database->url());
  const auto writer = need(store->begin_index());
  need(writer->put_document(versioned("a", 1), version("a", 1)));
  database->server.kill();
  const auto refused = writer->put_document(versioned("a", 2), version("a", 2));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::unavailable);
  database->server.start();
  REQUIRE(eventually(
      [&] { return writer->put_document(versioned("b", 3), version("b", 3)).has_value(); }));
  CHECK(need(store->documents()).size() == 2);
  check_whole(*store);
}

TEST_CASE("a document costs the same few statements whatever its size") {
  const auto database = OwnDatabase::make();
  if (!database) return;
  const fs::path log = fs::path(database->sql("SHOW data_directory")).parent_path() / "log";
  const auto statements = [&] {
    std::ifstream in(log);
    int count = 0;
    for (std::string line; std::getline(in, line);) {
      count +=
          line.find("LOG:  statement: ") != line.npos || line.find("LOG:  execute ") != line.npos;
    }
    return count;
  };
  const auto store = open_store(database->url());
  const auto writer = need(store->begin_index());
  std::vector<int> costs;
  for (const int size : {1, 1, 300, 300, 2}) {
    std::vector<ChunkRecord> chunks;
    for (int i = 0; i < size; ++i) {
      std::vector<TermCount> terms;
      for (int t = 0; t < 40; ++t) terms.push_back({"t" + std::to_string(i * 7 + t), 1});
      chunks.push_back(make_chunk("a", i, std::move(terms), {1, 0, 0, 0}));
    }
    const int before = statements();
    need(writer->put_document(make_document("a"), chunks));
    costs.push_back(statements() - before);
  }
  // Begin and commit among them.
  CHECK(*std::max_element(costs.begin(), costs.end()) <= 12);
}

TEST_CASE("a very long document is put whole, its chunks in order, with vectors where there are") {
  const TestDatabase place;
  const auto store = open_store(place.url());
  const auto writer = need(store->begin_index());
  std::vector<ChunkRecord> chunks;
  for (int i = 0; i < 3000; ++i) {
    std::vector<float> vector;
    if (i % 3 == 1) vector = {static_cast<float>(i), 1, 0};
    chunks.push_back(make_chunk("long", i, {{"all", 1}, {"n" + std::to_string(i), 1}}, vector));
  }
  need(writer->put_document(make_document("long"), chunks));
  CHECK(place.sql("SELECT bool_and(later) FROM (SELECT id > lag(id) OVER (ORDER BY chunk_index) "
                  "AS later FROM stoka_chunks) x") == "t");
  CHECK(place.sql("SELECT count(*) FROM stoka_chunks WHERE (chunk_index % 3 = 1) "
                  "IS DISTINCT FROM (embedding IS NOT NULL)") == "0");
  CHECK(place.sql("SELECT embedding FROM stoka_chunks WHERE chunk_index = 2998") == "[2998,1,0]");
  CHECK(need(store->stats()).vectors == 1000);
  const std::string terms[] = {"all", "n2999"};
  CHECK(need(store->document_frequencies(terms)) == std::vector<uint64_t>{3000, 1});
  need(writer->remove_document("long"));
  CHECK(place.sql(kLoose) == "0");
  CHECK(place.sql("SELECT (SELECT count(*) FROM stoka_postings) + "
                  "(SELECT count(*) FROM stoka_terms)") == "0");
}

TEST_CASE("the index over the vectors follows their dimension") {
  const TestDatabase place;
  const auto store = open_store(place.url());
  const auto writer = need(store->begin_index());
  const auto one = [](size_t dim) {
    std::vector<float> vector(dim, 0);
    vector[0] = 1;
    return std::vector<ChunkRecord>{make_chunk("a", 0, {{"t", 1}}, vector)};
  };
  const auto names = [&](const std::string& type) {
    return place.sql(kVectorIndex).find("USING hnsw (((embedding)::" + type) == 0;
  };
  need(writer->finish(Instant()));
  CHECK(place.sql(kVectorIndex).empty());

  need(writer->put_document(make_document("a"), one(3)));
  CHECK(place.sql(kVectorIndex).empty());
  need(writer->finish(Instant()));
  const bool half = names("halfvec(3)");
  CHECK((half || names("vector(3)")));
  const std::string first = place.sql("SELECT 'stoka_chunks_embedding'::regclass::oid");
  need(writer->put_document(make_document("a"), one(3)));
  need(writer->finish(Instant()));
  CHECK(place.sql("SELECT 'stoka_chunks_embedding'::regclass::oid") == first);

  need(writer->replace_basis({}, 5, 1, [](ChunkId) { return std::vector<float>{0, 0, 0, 0, 1}; }));
  need(writer->put_document(make_document("a"), one(5)));
  need(writer->finish(Instant()));
  CHECK(names(half ? "halfvec(5)" : "vector(5)"));

  need(writer->clear());
  CHECK(place.sql(kVectorIndex).empty());
  // More than can be indexed, and then more than can be stored.
  need(writer->put_document(make_document("a"), one(4100)));
  need(writer->finish(Instant()));
  CHECK(place.sql(kVectorIndex).empty());
  std::vector<float> query(4100, 0);
  query[0] = 1;
  CHECK(need(store->search_dense(query, 3, {})).size() == 1);
  need(writer->clear());
  const auto refused = writer->put_document(make_document("a"), one(16001));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::config);
  CHECK(refused.error().message == "a vector has 16001 dimensions, pgvector stores 16000 at most");
}

TEST_CASE("any change is unfinished until its run ends") {
  const TestDatabase place;
  const auto store = open_store(place.url());
  const auto writer = need(store->begin_index());
  const auto unfinished = [&] { return need(store->stats()).unfinished; };
  need(writer->set_identity({"builtin-lsa", 0, "", ""}));
  CHECK_FALSE(unfinished());
  const std::function<Result<>()> changes[] = {
      [&] { return writer->put_document(versioned("a", 1), version("a", 1)); },
      [&] { return writer->replace_basis({}, 4, 1, [](ChunkId) { return std::vector<float>(); }); },
      [&] { return writer->remove_document("a"); },
      [&] { return writer->clear(); },
  };
  for (const auto& change : changes) {
    need(change());
    CHECK(unfinished());
    need(writer->finish(Instant()));
    CHECK_FALSE(unfinished());
  }
}

TEST_CASE("a damaged index is found out by the run that would build on it") {
  const TestDatabase place;
  const auto store = open_store(place.url());
  const auto writer = need(store->begin_index());
  need(writer->put_document(versioned("a", 1), version("a", 1)));
  SUBCASE("terms of a chunk") { place.sql("UPDATE stoka_chunk_terms SET data = '\\xff'"); }
  SUBCASE("no terms of a chunk") { place.sql("DELETE FROM stoka_chunk_terms"); }
  SUBCASE("postings") { place.sql("UPDATE stoka_postings SET data = '\\xff'"); }
  const auto put = writer->put_document(versioned("a", 2), version("a", 2));
  REQUIRE_FALSE(put);
  CHECK(put.error().kind == ErrorKind::data);
  CHECK(put.error().message == "the index in the database is damaged");
  CHECK(place.sql("SELECT content_hash FROM stoka_documents") == "1");
  need(writer->clear());
  need(writer->put_document(versioned("a", 2), version("a", 2)));
  check_whole(*store);
}

TEST_CASE("a full disk of the server rolls the document back, and searches go on") {
  const auto other = OwnDatabase::make();
  if (!other) return;
  const fs::path data = other->sql("SHOW data_directory");
  const fs::path disk = data.parent_path() / "disk";
  fs::create_directory(disk);
  struct stat owner {};
  REQUIRE(stat(data.c_str(), &owner) == 0);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=24m") != 0) {
    MESSAGE("needs the right to mount a small disk");
    return;
  }
  struct Unmount {
    fs::path disk;
    ~Unmount() { umount2(disk.c_str(), MNT_DETACH); }
  } const unmount{disk};
  REQUIRE(chown(disk.c_str(), owner.st_uid, owner.st_gid) == 0);
  // Only the database lies on it: a server whose log has no room stops.
  other->sql("CREATE TABLESPACE small LOCATION '" + disk.string() + "'");
  const auto database = OwnDatabase::make("TABLESPACE small");
  const auto store = open_store(database->url());
  const auto writer = need(store->begin_index());
  need(writer->put_document(versioned("a", 1), version("a", 1)));
  database->sql("CHECKPOINT");
  const fs::path filler = disk / "filler";
  std::ofstream(filler) << std::string(6 << 20, 'x');
  Error error;
  int put = 0;
  for (; put < 1000; ++put) {
    std::vector<ChunkRecord> chunks = version("big", put);
    // Does not compress.
    std::mt19937 random(static_cast<uint32_t>(put));
    for (ChunkRecord& record : chunks) {
      record.chunk.content.clear();
      for (int i = 0; i < 300000; ++i)
        record.chunk.content += static_cast<char>('!' + random() % 90);
    }
    const std::string slug = "big-" + std::to_string(put);
    const auto done = writer->put_document(versioned(slug, put), chunks);
    if (done) continue;
    error = done.error();
    break;
  }
  CHECK(error.kind == ErrorKind::data);
  CHECK(error.message.find("the disk of the server of ") == 0);
  CHECK_FALSE(error.hint.empty());
  CHECK(need(store->documents()).size() == static_cast<size_t>(put) + 1);
  CHECK(database->sql(kLoose) == "0");
  check_whole(*store);
  fs::remove(filler);
  need(writer->put_document(versioned("b", 2), version("b", 2)));
  check_whole(*store);
}
