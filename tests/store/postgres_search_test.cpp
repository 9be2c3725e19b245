#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "search/vectors.h"
#include "store/corpus.h"
#include "store/open.h"
#include "store/postgres/database.h"
#include "store/postgres/dense_search.h"
#include "store/postgres/schema.h"
#include "store/postgres/vector_index.h"
#include "support/postgres.h"

namespace postgres_search_test {

using namespace stoka;
using namespace stoka::store;
using testing::TestDatabase;

namespace {

constexpr size_t kDim = 8;
constexpr int kDocuments = 60;
constexpr int kChunksEach = 100;
static_assert((kDocuments - 6) * kChunksEach > int{postgres::kMaxExactVectors});

std::unique_ptr<Store> must_open(const std::string& url) {
  auto store = store::open(url, OpenMode::read_write);
  REQUIRE_MESSAGE(store, (store ? "" : store.error().message));
  return std::move(*store);
}

std::string slug(int n) { return "post-" + std::to_string(n); }

std::vector<float> random_vector(Corpus& corpus) {
  std::vector<float> vector;
  for (size_t i = 0; i < kDim; ++i)
    vector.push_back(static_cast<float>(corpus.random(2001)) / 1000 - 1);
  search::normalize(vector);
  return vector;
}

// More vectors than an exact search takes. A tenth of them are equal, some are zero, and those of
// some documents are close to each other.
constexpr int kTogether = 5;
const std::vector<float> kMiddle = {0, 1, 0, 0, 0, 0, 0, 0};
std::vector<float> large_vector(Corpus& corpus, int document, int chunk) {
  if (document < kTogether) {
    std::vector<float> vector = random_vector(corpus);
    for (size_t i = 0; i < kDim; ++i) vector[i] = kMiddle[i] + 0.1F * vector[i];
    search::normalize(vector);
    return vector;
  }
  if (chunk % 10 == 0) return {1, 0, 0, 0, 0, 0, 0, 0};
  if (chunk % 10 == 1 && corpus.random(50) == 0) return std::vector<float>(kDim, 0);
  return random_vector(corpus);
}

void fill_large(Store& store, Corpus& corpus) {
  auto writer = store.begin_index();
  REQUIRE_MESSAGE(writer, (writer ? "" : writer.error().message));
  for (int document = 0; document < kDocuments; ++document) {
    std::vector<ChunkRecord> chunks;
    for (int index = 0; index < kChunksEach; ++index) {
      chunks.push_back(
          make_chunk(slug(document), index, {{"t1", 1}}, large_vector(corpus, document, index)));
    }
    corpus.put(**writer, slug(document), std::move(chunks));
  }
  const auto finished = (*writer)->finish(Instant(std::chrono::milliseconds(1)));
  REQUIRE_MESSAGE(finished, (finished ? "" : finished.error().message));
}

SearchFilter all_but(std::set<int> kept) {
  SearchFilter filter;
  for (int n = 0; n < kDocuments; ++n) {
    if (!kept.contains(n)) filter.exclude_slugs.insert(slug(n));
  }
  return filter;
}

// The number of `expected` results that were found.
size_t hits(const std::vector<RankedChunk>& found, const std::vector<RankedChunk>& expected) {
  return static_cast<size_t>(
      std::count_if(expected.begin(), expected.end(), [&](const RankedChunk& e) {
        return std::find(found.begin(), found.end(), e) != found.end();
      }));
}

}  // namespace

TEST_CASE("a large index is searched through HNSW, and never returns fewer rows than exist") {
  const TestDatabase database;
  Corpus corpus(7);
  {
    const auto store = must_open(database.url());
    fill_large(*store, corpus);

    size_t wanted = 0, found_of_them = 0;
    for (int round = 0; round < 20; ++round) {
      const std::vector<float> query = random_vector(corpus);
      for (const size_t k : {1U, 20U, 100U}) {
        CAPTURE(k);
        SearchFilter filter;
        if (round % 2) filter.exclude_slugs = {slug(round), slug(round + 1), "not-there"};
        const auto found = store->search_dense(query, k, filter);
        REQUIRE_MESSAGE(found, (found ? "" : found.error().message));
        const std::vector<RankedChunk> expected = corpus.dense(query, k, filter);
        const std::vector<RankedChunk> rows = with_slugs(*store, *found);
        CHECK(rows.size() == k);
        CHECK(std::is_sorted(
            rows.begin(), rows.end(),
            [](const RankedChunk& a, const RankedChunk& b) { return a.score > b.score; }));
        for (const RankedChunk& row : rows) CHECK_FALSE(filter.exclude_slugs.contains(row.slug));
        wanted += expected.size();
        found_of_them += hits(rows, expected);
      }
    }
    CHECK(static_cast<double>(found_of_them) >= 0.98 * static_cast<double>(wanted));
  }
  // The statistics of a backend are visible to others once it has ended.
  if (!TestDatabase::has_many_backends()) return;
  const std::string scans =
      "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'stoka_chunks_embedding' "
      "AND schemaname = current_schema()";
  for (int n = 0; n < 200 && database.sql(scans) == "0"; ++n) database.sql("SELECT pg_sleep(0.05)");
  CHECK(database.sql(scans) != "0");
}

TEST_CASE("HNSW search agrees with exact search for filters, ties and unusual queries") {
  const TestDatabase database;
  const auto store = must_open(database.url());
  Corpus corpus(8);
  fill_large(*store, corpus);
  const std::vector<float> tied = {1, 0, 0, 0, 0, 0, 0, 0};
  struct {
    const char* what;
    std::vector<float> query;
    size_t k;
    SearchFilter filter;
  } const cases[] = {
      {"one document is left", random_vector(corpus), 20, all_but({3})},
      {"as many rows are left as are asked for", random_vector(corpus), 200, all_but({3, 40})},
      {"fewer rows are left than are asked for", random_vector(corpus), 500, all_but({3, 40})},
      {"nothing is left", random_vector(corpus), 20, all_but({})},
      {"more ties than the index gives", tied, 20, {}},
      {"more ties than the index gives, with a filter", tied, 20, {{slug(0), slug(1)}}},
      {"more than the index can give", random_vector(corpus), 2000, {}},
      {"more than there are", random_vector(corpus), 100000, {}},
      {"a query without direction", std::vector<float>(kDim, 0), 20, {}},
  };
  for (int round = 0; round < 30; ++round) {
    const std::vector<float> query = random_vector(corpus);
    const SearchFilter filter = all_but({10 + round, 20 + round, 30, 31, 32});
    const auto found = store->search_dense(query, 50, filter);
    REQUIRE(found);
    CHECK((with_slugs(*store, *found) == corpus.dense(query, 50, filter)));
  }
  for (const auto& c : cases) {
    CAPTURE(c.what);
    const auto found = store->search_dense(c.query, c.k, c.filter);
    REQUIRE_MESSAGE(found, (found ? "" : found.error().message));
    CHECK((with_slugs(*store, *found) == corpus.dense(c.query, c.k, c.filter)));
  }
}

TEST_CASE(
    "a large index is searched with every version of pgvector, and without the vector index") {
  const TestDatabase db;
  const auto store = must_open(db.url());
  Corpus corpus(9);
  fill_large(*store, corpus);
  const auto database =
      postgres::Database::open(postgres::DatabaseAddress::parse(db.url()).value(), {}).value();
  const postgres::Schema schema = postgres::check_schema(*database).value();
  struct {
    int minor;
    bool with_index;
  } const cases[] = {{5, true}, {7, true}, {8, true}, {5, false}, {8, false}};
  for (const auto& c : cases) {
    CAPTURE(c.minor);
    CAPTURE(c.with_index);
    postgres::Extension extension = schema.vector;
    if (!extension.at_least(0, c.minor)) continue;
    extension.major = 0;
    extension.minor = c.minor;
    const auto made = database->write([&](postgres::Connection& connection) {
      return c.with_index ? postgres::create_vector_index(connection, extension, kDim)
                          : postgres::drop_vector_index(connection);
    });
    REQUIRE_MESSAGE(made, (made ? "" : made.error().message));
    SearchFilter without_middle;
    for (int n = 0; n < kTogether; ++n) without_middle.exclude_slugs.insert(slug(n));
    struct {
      std::vector<float> query;
      size_t k;
      SearchFilter filter;
    } const queries[] = {
        {random_vector(corpus), 20, {{slug(11), slug(12)}}},
        {random_vector(corpus), 300, {{slug(11), slug(12)}}},
        // Filtering the results of the index afterwards would leave nothing.
        {kMiddle, 20, without_middle},
        {kMiddle, 100, without_middle},
    };
    for (const auto& q : queries) {
      CAPTURE(q.k);
      const auto found = database->read([&](postgres::Connection& connection) {
        return postgres::search_dense(connection, extension, q.query, q.k, q.filter);
      });
      REQUIRE_MESSAGE(found, (found ? "" : found.error().message));
      const std::vector<RankedChunk> rows = with_slugs(*store, *found);
      CHECK(rows.size() == q.k);
      CHECK(hits(rows, corpus.dense(q.query, q.k, q.filter)) >= q.k * 95 / 100);
    }
  }
}

TEST_CASE("SQL in any field of a document or a query is treated as text") {
  const TestDatabase database;
  const auto store = must_open(database.url());
  const std::string nasty = "'; DROP TABLE stoka_chunks; -- $1 \\ \" %s {a,b} NULL";
  Corpus corpus(1);
  {
    auto writer = store->begin_index();
    REQUIRE(writer);
    IndexIdentity identity;
    identity.embedder = identity.chunker = identity.query_prefix = nasty;
    REQUIRE((*writer)->set_identity(identity));
    ChunkRecord chunk = make_chunk(nasty, 0, {{nasty, 2}, {"NULL", 1}}, {1, 0});
    chunk.chunk.type = chunk.chunk.title = chunk.chunk.section = chunk.chunk.url = nasty;
    chunk.chunk.content = nasty;
    chunk.chunk.tags = {nasty, "NULL", ""};
    corpus.put(**writer, nasty, {chunk});
    corpus.put(**writer, "NULL", {make_chunk("NULL", 0, {{"NULL", 1}}, {0, 1})});
    REQUIRE((*writer)->replace_basis(std::vector<BasisRow>{{nasty, 1, {1, 2}}}, 2, 1, [](ChunkId) {
      return std::vector<float>{1, 0};
    }));
    REQUIRE((*writer)->finish(Instant()));
    CHECK((**store->identity() == identity));
  }
  const auto chunks = store->document_chunks(nasty);
  REQUIRE(chunks);
  REQUIRE(chunks->size() == 1);
  const Chunk& chunk = chunks->front().chunk;
  for (const std::string& field : {chunk.slug, chunk.type, chunk.title, chunk.section, chunk.url,
                                   chunk.content, chunk.tags[0]})
    CHECK(field == nasty);
  CHECK(chunk.tags.size() == 3);
  const std::string terms[] = {nasty, "NULL", "'"};
  CHECK(*store->document_frequencies(terms) == std::vector<uint64_t>{1, 2, 0});
  CHECK(store->basis_rows(terms)->size() == 1);
  const ChunkId ids[] = {chunks->front().id};
  CHECK(store->chunk_terms(ids)->front().size() == 2);
  for (const SearchFilter& filter :
       {SearchFilter{}, SearchFilter{{nasty}}, SearchFilter{{"NULL"}}, SearchFilter{{"{}", "'"}}}) {
    const auto found =
        store->search_lexical(std::vector<QueryTerm>{{nasty, 1}, {"NULL", 1}}, 5, filter);
    REQUIRE(found);
    CHECK((with_slugs(*store, *found) == corpus.lexical({{nasty, 1}, {"NULL", 1}}, 5, filter)));
    CHECK(store->search_dense(std::vector<float>{1, 0}, 5, filter)->size() ==
          2 - filter.exclude_slugs.count(nasty) - filter.exclude_slugs.count("NULL"));
  }
}

TEST_CASE("damaged rows give a data error") {
  const TestDatabase database;
  const auto store = must_open(database.url());
  ChunkId id = 0;
  const auto kind = [](const auto& result) {
    return result ? "none" : std::string(to_string(result.error().kind));
  };
  struct {
    const char* damage;
    std::function<std::string()> call;
  } const cases[] = {
      {"UPDATE stoka_postings SET data = '\\xff'",
       [&] {
         return kind(store->search_lexical(std::vector<QueryTerm>{{"t1", 1}}, 5, {}));
       }},
      {"UPDATE stoka_postings SET block = 7",
       [&] {
         return kind(store->search_lexical(std::vector<QueryTerm>{{"t1", 1}}, 5, {}));
       }},
      {"UPDATE stoka_chunks SET embedding = '[1,2,3]'",
       [&] {
         return kind(store->search_dense(std::vector<float>{1, 0}, 5, {}));
       }},
      {"UPDATE stoka_basis SET data = '\\x00'",
       [&] { return kind(store->basis_rows(std::vector<std::string>{"t1"})); }},
      {"UPDATE stoka_basis SET data = ''", [&] { return kind(store->basis()); }},
      {"UPDATE stoka_chunk_terms SET data = '\\xff'",
       [&] { return kind(store->chunk_terms(std::vector{id})); }},
      {"DELETE FROM stoka_terms", [&] { return kind(store->chunk_terms(std::vector{id})); }},
      {"UPDATE stoka_chunks SET metadata = '[]'",
       [&] { return kind(store->chunks(std::vector{id})); }},
      {"DELETE FROM stoka_index", [&] { return kind(store->stats()); }},
  };
  for (const auto& c : cases) {
    CAPTURE(c.damage);
    {
      auto writer = store->begin_index();
      REQUIRE(writer);
      REQUIRE((*writer)->clear());
      Corpus corpus(2);
      corpus.put(**writer, "a", {make_chunk("a", 0, {{"t1", 1}}, {1, 0})});
      REQUIRE((*writer)->replace_basis(std::vector<BasisRow>{{"t1", 1, {1, 2}}}, 2, 1, [](ChunkId) {
        return std::vector<float>{1, 0};
      }));
      id = store->document_chunks("a")->front().id;
    }
    CHECK(c.call() == "none");
    // A change by hand does not increase the generation; without this the caches would hide the
    // damage.
    database.sql("UPDATE stoka_index SET generation = generation + 1");
    database.sql(c.damage);
    CHECK(c.call() == "data");
  }
}

TEST_CASE("rows with NULL in every nullable column are read") {
  const TestDatabase database;
  const auto store = must_open(database.url());
  database.sql(
      "INSERT INTO stoka_chunks (source_type, source_slug, chunk_index, content, title, section, "
      "metadata) VALUES ('blog', 'a', 0, 'text', NULL, NULL, NULL)");
  const auto chunks = store->document_chunks("a");
  REQUIRE(chunks);
  REQUIRE(chunks->size() == 1);
  CHECK(chunks->front().chunk.title == "");
  CHECK(chunks->front().chunk.tags.empty());
  const auto same = store->chunks(std::vector{chunks->front().id}, true);
  REQUIRE(same);
  CHECK(same->front().embedding.empty());
}

}  // namespace postgres_search_test
