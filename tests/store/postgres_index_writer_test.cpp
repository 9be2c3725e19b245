// The cost of a document, the end of an index run, damaged indexes and full disks.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "store/postgres/index_writer.h"
#include "store/postgres_fixtures.h"

namespace postgres_index_writer_test {

using namespace stoka;
using namespace stoka::store;
using namespace stoka::store::postgres;
using stoka::testing::PostgresServer;
using stoka::testing::TestDatabase;
namespace fs = std::filesystem;

TEST_CASE("putting a document takes the same few statements whatever its size") {
  const auto database = RestartableDatabase::make();
  if (!database) return;
  int asked = 0;
  const auto statements = [&] {
    std::istringstream in(log_of(database->server));
    int count = 0;
    for (std::string line; std::getline(in, line);) {
      count +=
          line.find("LOG:  statement: ") != line.npos || line.find("LOG:  execute ") != line.npos;
    }
    return count - asked++;  // this query counts too
  };
  const auto store = open_store(database->url());
  const auto writer = must(store->begin_index());
  std::vector<int> costs;
  for (const int size : {1, 1, 300, 300, 2}) {
    std::vector<ChunkRecord> chunks;
    for (int i = 0; i < size; ++i) {
      std::vector<TermCount> terms;
      for (int t = 0; t < 40; ++t) terms.push_back({"t" + std::to_string(i * 7 + t), 1});
      chunks.push_back(make_chunk("a", i, std::move(terms), {1, 0, 0, 0}));
    }
    const int before = statements();
    must(writer->put_document(make_document("a"), chunks));
    costs.push_back(statements() - before);
  }
  // Including BEGIN and COMMIT.
  CHECK(*std::max_element(costs.begin(), costs.end()) <= 12);
}

TEST_CASE("a very long document is stored with its chunks in order and the vectors that exist") {
  const TestDatabase db;
  const auto store = open_store(db.url());
  const auto writer = must(store->begin_index());
  std::vector<ChunkRecord> chunks;
  for (int i = 0; i < 3000; ++i) {
    std::vector<float> vector;
    if (i % 3 == 1) vector = {static_cast<float>(i), 1, 0};
    chunks.push_back(make_chunk("long", i, {{"all", 1}, {"n" + std::to_string(i), 1}}, vector));
  }
  must(writer->put_document(make_document("long"), chunks));
  CHECK(db.sql("SELECT bool_and(later) FROM (SELECT id > lag(id) OVER (ORDER BY chunk_index) "
               "AS later FROM stoka_chunks) x") == "t");
  CHECK(db.sql("SELECT count(*) FROM stoka_chunks WHERE (chunk_index % 3 = 1) "
               "IS DISTINCT FROM (embedding IS NOT NULL)") == "0");
  CHECK(db.sql("SELECT embedding FROM stoka_chunks WHERE chunk_index = 2998") == "[2998,1,0]");
  CHECK(must(store->stats()).vectors == 1000);
  const std::string terms[] = {"all", "n2999"};
  CHECK(must(store->document_frequencies(terms)) == std::vector<uint64_t>{3000, 1});
  std::vector<ChunkId> walked;
  must(writer->each_chunk_terms([&](ChunkId id, std::span<const TermCount> of_chunk) {
    CHECK(of_chunk.size() == 2);
    walked.push_back(id);
    return true;
  }));
  CHECK(walked.size() == 3000);
  CHECK(std::adjacent_find(walked.begin(), walked.end(), std::greater_equal()) == walked.end());
  must(writer->remove_document("long"));
  CHECK(db.sql(kCountInconsistencies) == "0");
  CHECK(db.sql("SELECT (SELECT count(*) FROM stoka_postings) + "
               "(SELECT count(*) FROM stoka_terms)") == "0");
}

TEST_CASE("every change marks the index as unfinished until a run is finished") {
  const TestDatabase db;
  const auto store = open_store(db.url());
  const auto writer = must(store->begin_index());
  const auto unfinished = [&] { return must(store->stats()).unfinished; };
  must(writer->set_identity({"builtin-lsa", 0, "", ""}));
  CHECK_FALSE(unfinished());
  const std::function<Result<>()> changes[] = {
      [&] { return writer->put_document(versioned_document("a", 1), versioned_chunks("a", 1)); },
      [&] { return writer->replace_basis({}, 4, 1, [](ChunkId) { return std::vector<float>(); }); },
      [&] { return writer->remove_document("a"); },
      [&] { return writer->clear(); },
  };
  for (const auto& change : changes) {
    must(change());
    CHECK(unfinished());
    must(writer->finish(Instant()));
    CHECK_FALSE(unfinished());
  }
}

TEST_CASE("an index run on a damaged index gives a data error") {
  const TestDatabase db;
  const auto store = open_store(db.url());
  const auto writer = must(store->begin_index());
  must(writer->put_document(versioned_document("a", 1), versioned_chunks("a", 1)));
  SUBCASE("damaged terms of a chunk") { db.sql("UPDATE stoka_chunk_terms SET data = '\\xff'"); }
  SUBCASE("missing terms of a chunk") { db.sql("DELETE FROM stoka_chunk_terms"); }
  SUBCASE("a damaged posting block") { db.sql("UPDATE stoka_postings SET data = '\\xff'"); }
  const auto put = writer->put_document(versioned_document("a", 2), versioned_chunks("a", 2));
  REQUIRE_FALSE(put);
  CHECK(put.error().kind == ErrorKind::data);
  CHECK(put.error().message == "the index in the database is damaged");
  CHECK(db.sql("SELECT content_hash FROM stoka_documents") == "1");
  must(writer->clear());
  must(writer->put_document(versioned_document("a", 2), versioned_chunks("a", 2)));
  check_consistency(*store);
}

TEST_CASE("a full disk of the server rolls the document back, and searches still work") {
  // Buffers for all changed pages, because readers would otherwise have to write some of them to
  // disk.
  const PostgresServer server({"shared_buffers = 128MB"});
  if (!server.has_vector()) {
    MESSAGE("needs native PostgreSQL with pgvector");
    return;
  }
  const fs::path data = server.sql("SHOW data_directory");
  const fs::path folder = data.parent_path() / "disk";
  const auto disk = SmallDisk::mount(folder, "24m", data);
  if (!disk) return;
  // Only the database is on the small disk: a server that cannot write its WAL stops.
  server.sql("CREATE TABLESPACE small LOCATION '" + folder.string() + "'");
  server.sql("CREATE DATABASE small TABLESPACE small");
  const auto store = open_store(server.url("small"));
  const auto writer = must(store->begin_index());
  must(writer->put_document(versioned_document("a", 1), versioned_chunks("a", 1)));
  server.sql("CHECKPOINT");
  const fs::path filler = folder / "filler";
  std::ofstream(filler) << std::string(6 << 20, 'x');
  Error error;
  int put = 0;
  for (; put < 1000; ++put) {
    std::vector<ChunkRecord> chunks = versioned_chunks("big", put);
    // Random text, which does not compress.
    std::mt19937 random(static_cast<uint32_t>(put));
    for (ChunkRecord& record : chunks) {
      record.chunk.content.clear();
      for (int i = 0; i < 300000; ++i)
        record.chunk.content += static_cast<char>('!' + random() % 90);
    }
    const std::string slug = "big-" + std::to_string(put);
    const auto done = writer->put_document(versioned_document(slug, put), chunks);
    if (done) continue;
    error = done.error();
    break;
  }
  CHECK(error.kind == ErrorKind::data);
  CHECK(error.message.find("the disk of the server of ") == 0);
  CHECK_FALSE(error.hint.empty());
  CHECK(must(store->documents()).size() == static_cast<size_t>(put) + 1);
  CHECK(server.sql(kCountInconsistencies, "small") == "0");
  check_consistency(*store);
  fs::remove(filler);
  must(writer->put_document(versioned_document("b", 2), versioned_chunks("b", 2)));
  check_consistency(*store);
}

}  // namespace postgres_index_writer_test
