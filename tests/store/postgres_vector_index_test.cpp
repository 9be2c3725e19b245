#include <doctest/doctest.h>

#include "store/postgres/vector_index.h"
#include "store/postgres_fixtures.h"

namespace postgres_vector_index_test {

using namespace stoka;
using namespace stoka::store;
using namespace stoka::store::postgres;
using stoka::testing::PostgresServer;
using stoka::testing::TestDatabase;
namespace fs = std::filesystem;

TEST_CASE("indexed_type() prefers half precision within the limits of pgvector") {
  struct {
    int major, minor;
    uint64_t dim;
    const char* type;
  } const cases[] = {
      {0, 5, 1, "vector(1)"},        {0, 6, 2000, "vector(2000)"},   {0, 6, 2001, ""},
      {0, 7, 1, "halfvec(1)"},       {0, 8, 4000, "halfvec(4000)"},  {0, 8, 4001, ""},
      {1, 0, 1024, "halfvec(1024)"}, {0, 10, 1024, "halfvec(1024)"}, {0, 8, 0, ""},
  };
  for (const auto& c : cases) {
    CAPTURE(c.minor);
    CAPTURE(c.dim);
    Extension extension;
    extension.major = c.major;
    extension.minor = c.minor;
    CHECK(indexed_type(extension, c.dim) == c.type);
  }
}

TEST_CASE("the vector index is created with an older pgvector too") {
  const TestDatabase db;
  const auto database = must(Database::open(must_parse(db.url()), {}));
  Schema schema = must(migrate(*database));
  schema.vector.major = 0;
  schema.vector.minor = 6;
  for (const uint64_t dim : {3, 3, 4}) {
    must(database->write([&](Connection& connection) -> Result<> {
      STOKA_TRY(drop_vector_index(connection, indexed_type(schema.vector, dim)));
      return create_vector_index(connection, schema.vector, dim);
    }));
    const std::string made = db.sql(kVectorIndex);
    CHECK(made.find("(embedding)::vector(" + std::to_string(dim) + ")") != std::string::npos);
    CHECK(made.find("vector_cosine_ops") != std::string::npos);
  }
}

TEST_CASE("the vector index follows the dimension of the vectors") {
  const TestDatabase db;
  const auto store = open_store(db.url());
  const auto writer = must(store->begin_index());
  const auto one = [](size_t dim) {
    std::vector<float> vector(dim, 0);
    vector[0] = 1;
    return std::vector<ChunkRecord>{make_chunk("a", 0, {{"t", 1}}, vector)};
  };
  const auto names = [&](const std::string& type) {
    return db.sql(kVectorIndex).find("USING hnsw (((embedding)::" + type) == 0;
  };
  must(writer->finish(Instant()));
  CHECK(db.sql(kVectorIndex).empty());

  must(writer->put_document(make_document("a"), one(3)));
  CHECK(db.sql(kVectorIndex).empty());
  must(writer->finish(Instant()));
  const bool half = names("halfvec(3)");
  CHECK((half || names("vector(3)")));
  const std::string first = db.sql("SELECT 'stoka_chunks_embedding'::regclass::oid");
  must(writer->put_document(make_document("a"), one(3)));
  must(writer->finish(Instant()));
  CHECK(db.sql("SELECT 'stoka_chunks_embedding'::regclass::oid") == first);

  // With the index of an older pgvector, or none: the next index run creates the right one.
  db.sql(
      "DROP INDEX stoka_chunks_embedding; CREATE INDEX stoka_chunks_embedding ON stoka_chunks "
      "USING hnsw ((embedding::vector(3)) vector_cosine_ops)");
  must(writer->finish(Instant()));
  CHECK(names(half ? "halfvec(3)" : "vector(3)"));

  must(writer->replace_basis({}, 5, 1, [](ChunkId) { return std::vector<float>{0, 0, 0, 0, 1}; }));
  must(writer->put_document(make_document("a"), one(5)));
  must(writer->finish(Instant()));
  CHECK(names(half ? "halfvec(5)" : "vector(5)"));

  must(writer->clear());
  CHECK(db.sql(kVectorIndex).empty());
  // More dimensions than pgvector can index, and then more than it can store.
  must(writer->put_document(make_document("a"), one(4100)));
  must(writer->finish(Instant()));
  CHECK(db.sql(kVectorIndex).empty());
  std::vector<float> query(4100, 0);
  query[0] = 1;
  CHECK(must(store->search_dense(query, 3, {})).size() == 1);
  must(writer->clear());
  const auto refused = writer->put_document(make_document("a"), one(16001));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::config);
  CHECK(refused.error().message == "a vector has 16001 dimensions, pgvector stores 16000 at most");
}

TEST_CASE("an index run that changes the dimension succeeds while others read") {
  if (!TestDatabase::has_many_backends()) return;
  const TestDatabase db;
  const auto store = open_store(db.url());
  const auto writer = must(store->begin_index());
  const ChunkRecord before[] = {make_chunk("a", 0, {{"t", 1}}, {1, 0, 0})};
  must(writer->put_document(make_document("a"), before));
  must(writer->finish(Instant()));
  const auto reader = must(Connection::open(must_parse(db.url())));
  bool index_is_new = true;
  SUBCASE("reading removed vectors") {
    must(reader->run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM stoka_visitors"));
  }
  SUBCASE("reading through the vector index") {
    must(reader->run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM stoka_chunks"));
    index_is_new = false;
  }
  must(writer->replace_basis({}, 4, 1, [](ChunkId) { return std::vector<float>{0, 0, 0, 1}; }));
  must(writer->finish(Instant()));
  CHECK((db.sql(kVectorIndex).find("(4)") != std::string::npos) == index_is_new);
  const float query[] = {0, 0, 0, 1};
  CHECK(must(store->search_dense(query, 3, {})).size() == 1);
  must(reader->run("ROLLBACK"));
  must(writer->finish(Instant()));
  CHECK(db.sql(kVectorIndex).find("(4)") != std::string::npos);
}

TEST_CASE("the vector index is built without workers if shared memory is short") {
  PostgresServer server({"dynamic_shared_memory_type = mmap"});
  if (!server.has_vector()) {
    MESSAGE("needs native PostgreSQL with pgvector");
    return;
  }
  // Parallel workers are used even for a small table.
  server.sql("ALTER DATABASE stoka SET min_parallel_table_scan_size = 0");
  const fs::path data = server.sql("SHOW data_directory");
  server.stop();
  const auto disk = SmallDisk::mount(data / "pg_dynshmem", "8m", data);
  if (!disk) return;
  server.start();
  const auto store = open_store(server.url());
  const auto writer = must(store->begin_index());
  must(writer->put_document(versioned_document("a", 3), versioned_chunks("a", 3)));
  must(writer->finish(Instant()));
  CHECK(log_of(server).find("could not resize shared memory segment") != std::string::npos);
  CHECK_FALSE(server.sql(kVectorIndex).empty());
}

}  // namespace postgres_vector_index_test
