// A SQLite store with a damaged or read-only file, or on a full disk.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "store/child_process.h"
#include "store/corpus.h"
#include "store/open.h"
#include "store/temp_database.h"

namespace sqlite_faults_test {

using namespace stoka;
using namespace stoka::store;
using stoka::testing::limit_file_size;
using stoka::testing::run_as_nobody;
using stoka::testing::run_in_child;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<Store> must_open(const std::string& path, OpenMode mode) {
  auto store = store::open(path, mode);
  REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
  return std::move(*store);
}

void fill(const std::string& path, Corpus& corpus, int documents) {
  const auto store = must_open(path, OpenMode::read_write);
  auto writer = store->begin_index();
  REQUIRE(writer);
  for (int i = 0; i < documents; ++i) corpus.put(**writer, "post-" + std::to_string(i));
}

void run_sql(const std::string& path, const char* sql) {
  sqlite3* handle = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &handle) == SQLITE_OK);
  CHECK(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(handle);
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

unsigned mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

TurnRecord a_turn() {
  TurnRecord turn;
  turn.session_id = uuid("s");
  turn.visitor_id = uuid("v");
  return turn;
}

}  // namespace

TEST_CASE("a file that is not a store gives an error with a hint") {
  const TempDatabase temp;
  const std::string in = temp.directory() + "/";
  write_text(in + "text.db", std::string(5000, 'x'));
  fs::create_directory(in + "folder");
  run_sql(in + "foreign.db", "CREATE TABLE something (x)");
  {
    Corpus corpus(1);
    fill(in + "newer.db", corpus, 1);
    run_sql(in + "newer.db", "PRAGMA user_version = 7");
  }
  write_text(in + "empty.db", "");
  struct {
    std::string name;
    bool writable_too;
    std::string message;
  } const cases[] = {
      {"text.db", true, "is not a database"},
      {"folder", true, "is a directory, not a database"},
      {"foreign.db", true, "is a database of another program"},
      {"newer.db", true, "was written by a newer stoka (schema 7, this one knows 1)"},
      {"empty.db", false, "holds no index"},
      {"missing.db", false, "there is no index at"},
      {"no/such/folder.db", false, "there is no index at"},
      {"text.db/x.db", true, "Not a directory"},
  };
  for (const auto& c : cases) {
    for (const OpenMode mode : {OpenMode::read, OpenMode::read_write}) {
      if (mode == OpenMode::read_write && !c.writable_too) continue;
      CAPTURE(c.name);
      const auto store = store::open(in + c.name, mode);
      REQUIRE_FALSE(store);
      const bool missing = store.error().message.starts_with("there is no index");
      CHECK(store.error().kind == (missing ? ErrorKind::not_found : ErrorKind::data));
      CHECK(store.error().message.find(c.message) != std::string::npos);
      CHECK(store.error().message.find('\n') == std::string::npos);
      CHECK_FALSE(store.error().hint.empty());
    }
  }
  CHECK(fs::file_size(in + "text.db") == 5000);
  CHECK_FALSE(fs::exists(in + "missing.db"));
}

TEST_CASE("a new file and its directories are accessible to their owner only") {
  const TempDatabase temp;
  const std::string path = temp.directory() + "/a/b/stoka.db";
  const auto store = must_open(path, OpenMode::read_write);
  REQUIRE(store->commit_turn(a_turn()));
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(path + "-wal") == 0600);
  CHECK(mode_of(temp.directory() + "/a") == 0700);
  CHECK(mode_of(temp.directory() + "/a/b") == 0700);
}

TEST_CASE("a read-only store can be searched, and writes get an error that says so") {
  const TempDatabase temp;
  Corpus corpus(2);
  fill(temp.db(), corpus, 5);
  fs::permissions(temp.db(), fs::perms(0444));
  const auto searches = [&] {
    auto store = store::open(temp.db(), OpenMode::read);
    if (!store) return store.error().message;
    const QueryTerm query[] = {{"t0", 1}, {"t5", 1}};
    const auto found = (*store)->search_lexical(query, 1000, {});
    if (!found) return found.error().message;
    if (found->size() != corpus.lexical({{"t0", 1}, {"t5", 1}}, 1000, {}).size()) {
      return std::string("wrong");
    }
    const auto turn = (*store)->commit_turn(a_turn());
    const auto writer = (*store)->begin_index();
    if (turn || writer) return std::string("written");
    return turn.error().message + (writer.error().hint.empty() ? ", no hint" : "");
  };
  SUBCASE("a read-only file") {
    fs::permissions(temp.directory(), fs::perms(0777));
    CHECK(run_as_nobody(searches) == "the database " + temp.db() + " is read-only");
  }
  SUBCASE("a read-only file and directory") {
    fs::permissions(temp.directory(), fs::perms(0555));
    CHECK(run_as_nobody(searches) == "the database " + temp.db() + " is read-only");
    fs::permissions(temp.directory(), fs::perms(0700));
  }
  SUBCASE("an unreadable file") {
    fs::permissions(temp.db(), fs::perms(0600));
    fs::permissions(temp.directory(), fs::perms(0755));
    const std::string message = run_as_nobody(searches);
    if (geteuid() == 0) CHECK(message.find("cannot open the database") == 0);
  }
}

TEST_CASE("a directory that is not writable gives an error before anything is indexed") {
  const TempDatabase temp;
  fs::permissions(temp.directory(), fs::perms(0555));
  const auto message = run_as_nobody([&] {
    const auto store = store::open(temp.directory() + "/new/stoka.db", OpenMode::read_write);
    return store ? std::string("opened") : store.error().message;
  });
  CHECK(message == "cannot create the directory " + temp.directory() + "/new: Permission denied");
  fs::permissions(temp.directory(), fs::perms(0700));
}

TEST_CASE("a damaged file is reported and never deleted") {
  const TempDatabase temp;
  Corpus corpus(3);
  fill(temp.db(), corpus, 60);
  const auto size = fs::file_size(temp.db());
  {
    std::fstream file(temp.db(), std::ios::in | std::ios::out | std::ios::binary);
    for (uintmax_t page = 4096; page < size; page += 4096) {
      file.seekp(static_cast<std::streamoff>(page));
      file << std::string(600, '\x5a');
    }
  }
  const auto store = store::open(temp.db(), OpenMode::read);
  const QueryTerm query[] = {{"t0", 1}};
  const auto found = store ? (*store)->search_lexical(query, 5, {})
                           : Result<std::vector<ScoredChunk>>(fail(store.error()));
  REQUIRE_FALSE(found);
  CHECK(found.error().kind == ErrorKind::data);
  CHECK(found.error().message == "the database " + temp.db() + " is damaged");
  CHECK(found.error().hint.find("stoka index") != std::string::npos);
  CHECK(fs::file_size(temp.db()) == size);
}

TEST_CASE("damaged rows give a data error") {
  const TempDatabase temp;
  Corpus corpus(3);
  fill(temp.db(), corpus, 20);
  const char* const damages[] = {
      "UPDATE stoka_postings SET data = x'ff'",
      "UPDATE stoka_postings SET block = block + 1",
      "UPDATE stoka_chunks SET metadata = 'x'",
      "UPDATE stoka_vectors SET embedding = x'00000000'",
      "DELETE FROM stoka_vectors; DELETE FROM stoka_chunk_terms; DELETE FROM stoka_chunks",
  };
  for (const char* damage : damages) {
    CAPTURE(damage);
    const std::string copy = temp.db() + ".copy";
    fs::copy_file(temp.db(), copy, fs::copy_options::overwrite_existing);
    run_sql(copy, damage);
    const auto store = must_open(copy, OpenMode::read);
    const QueryTerm query[] = {{"t0", 1}};
    const float vector[] = {1, 0, 0, 0};
    const auto lexical = store->search_lexical(query, 1000, {});
    const auto dense = store->search_dense(vector, 1000, {});
    const auto chunks = store->document_chunks("post-1");
    const bool noticed = !lexical || !dense || !chunks || chunks->empty();
    CHECK(noticed);
    for (const auto* error :
         {lexical ? nullptr : &lexical.error(), dense ? nullptr : &dense.error(),
          chunks ? nullptr : &chunks.error()}) {
      if (error) CHECK(error->message == "the database " + copy + " is damaged");
    }
  }
}

TEST_CASE("a stored vector of another dimension gives a data error wherever vectors are read") {
  const TempDatabase temp;
  Corpus corpus(3);
  fill(temp.db(), corpus, 2);
  for (const char* damage : {"x'00000000'", "x''"}) {
    CAPTURE(damage);
    const std::string sql = std::string("UPDATE stoka_vectors SET embedding = ") + damage;
    run_sql(temp.db(), sql.c_str());
    const auto store = must_open(temp.db(), OpenMode::read);
    const auto chunks = store->document_chunks("post-1");
    REQUIRE(chunks);
    const ChunkId ids[] = {chunks->front().id};
    CHECK(store->chunks(ids, false));
    const auto with_embeddings = store->chunks(ids, true);
    REQUIRE_FALSE(with_embeddings);
    CHECK(with_embeddings.error().kind == ErrorKind::data);
    CHECK(with_embeddings.error().message == "the database " + temp.db() + " is damaged");
  }
}

TEST_CASE("a run that an older stoka did not finish is reported as unfinished") {
  const TempDatabase temp;
  Corpus corpus(3);
  fill(temp.db(), corpus, 2);
  run_sql(temp.db(), "DELETE FROM stoka_meta WHERE key = 'unfinished'");
  const auto store = must_open(temp.db(), OpenMode::read_write);
  CHECK(store->stats()->unfinished);
  REQUIRE((*store->begin_index())->finish(Instant()));
  CHECK_FALSE(store->stats()->unfinished);
}

TEST_CASE("a full disk rolls the document back, and searches still work") {
  const TempDatabase temp;
  Corpus corpus(4);
  fill(temp.db(), corpus, 10);
  const auto failure = run_in_child([&]() -> std::string {
    limit_file_size(fs::file_size(temp.db()) + 100000);
    auto store = store::open(temp.db(), OpenMode::read_write);
    if (!store) return store.error().message;
    auto writer = (*store)->begin_index();
    if (!writer) return writer.error().message;
    for (int i = 0; i < 1000; ++i) {
      std::vector<ChunkRecord> chunks = {make_chunk("big", 0, {{"t1", 1}})};
      chunks[0].chunk.content = std::string(50000, 'x');
      const std::string slug = "big-" + std::to_string(i);
      const auto put = (*writer)->put_document(make_document(slug), chunks);
      if (put) continue;
      const auto documents = (*store)->documents();
      if (!documents) return documents.error().message;
      if (documents->size() != static_cast<size_t>(10 + i)) return "a document too many or few";
      return put.error().kind == ErrorKind::data ? put.error().message : "another kind";
    }
    return "never full";
  });
  CHECK(failure == "no space left to write the database " + temp.db());
  const auto store = must_open(temp.db(), OpenMode::read_write);
  auto writer = store->begin_index();
  REQUIRE(writer);
  const auto documents = store->documents();
  REQUIRE(documents);
  for (const DocumentInfo& info : *documents) {
    const std::string& slug = info.document.slug;
    if (slug.find("big-") == 0) REQUIRE((*writer)->remove_document(slug));
  }
  corpus.check(*store);
}

TEST_CASE(
    "a store is opened by a path or sqlite: URL, and the error for other URLs lists the forms") {
  const TempDatabase temp;
  const std::string path = temp.db();
  for (const std::string& url : {path, "sqlite:" + path, "sqlite://" + path}) {
    CAPTURE(url);
    const auto store = store::open(url, OpenMode::read_write);
    REQUIRE(store);
    CHECK((*store)->describe() == "sqlite:" + path);
  }
  struct {
    std::string url;
    std::string message;
  } const cases[] = {
      {"mysql://host/db", "unknown kind of store 'mysql'"},
      {"", "the store '' does not name a file"},
      {"sqlite:", "the store 'sqlite:' does not name a file"},
      {"sqlite::memory:", "the store 'sqlite::memory:' does not name a file"},
      {":memory:", "unknown kind of store ''"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.url);
    const auto store = store::open(c.url, OpenMode::read_write);
    REQUIRE_FALSE(store);
    CHECK(store.error().kind == ErrorKind::config);
    CHECK(store.error().hint == "use sqlite:PATH, a path, or postgres://USER@HOST/DATABASE");
    if (c.url != ":memory:") CHECK(store.error().message == c.message);
  }
}

}  // namespace sqlite_faults_test
