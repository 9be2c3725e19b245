#include "store/postgres/store.h"

#include <utility>

#include "store/postgres/dense_search.h"
#include "store/postgres/index_rows.h"
#include "store/postgres/index_state.h"
#include "store/postgres/index_writer.h"
#include "store/postgres/lexical_search.h"
#include "store/postgres/schema.h"
#include "store/postgres/sessions.h"
#include "store/postgres/visitors.h"

namespace stoka::store::postgres {
namespace {

class PostgresStore final : public Store {
 public:
  PostgresStore(std::unique_ptr<Database> database, Schema schema, size_t connections)
      : max_commits_(commit_concurrency(connections)),
        database_(std::move(database)),
        schema_(std::move(schema)) {}

  std::string describe() const override { return database_->address().describe(); }

  Result<std::optional<IndexIdentity>> identity() override {
    return database_->read([](Connection& db) { return load_identity(db); });
  }

  Result<IndexStats> stats() override {
    return database_->read([](Connection& db) -> Result<IndexStats> {
      STOKA_ASSIGN(const IndexTotals totals, load_totals(db));
      STOKA_ASSIGN(const bool unfinished, load_unfinished(db));
      return totals.stats(unfinished);
    });
  }

  Result<search::CorpusStats> corpus_stats() override {
    STOKA_ASSIGN(const IndexTotals totals,
                 database_->read([](Connection& db) { return load_totals(db); }));
    return totals.corpus();
  }

  Result<std::vector<DocumentInfo>> documents() override {
    return database_->read([](Connection& db) { return load_documents(db); });
  }

  Result<std::vector<ScoredChunk>> search_lexical(std::span<const QueryTerm> query, size_t k,
                                                  const SearchFilter& filter) override {
    return database_->read([&](Connection& db) { return lexical_.search(db, query, k, filter); });
  }

  Result<std::vector<ScoredChunk>> search_dense(std::span<const float> query, size_t k,
                                                const SearchFilter& filter) override {
    return database_->read([&](Connection& db) {
      return postgres::search_dense(db, schema_.vector, query, k, filter);
    });
  }

  Result<std::vector<StoredChunk>> chunks(std::span<const ChunkId> ids,
                                          bool with_embeddings) override {
    return database_->read([&](Connection& db) { return load_chunks(db, ids, with_embeddings); });
  }

  Result<std::vector<StoredChunk>> document_chunks(std::string_view slug) override {
    return database_->read([&](Connection& db) { return load_document_chunks(db, slug); });
  }

  Result<std::vector<uint64_t>> document_frequencies(std::span<const std::string> terms) override {
    return database_->read([&](Connection& db) { return load_document_frequencies(db, terms); });
  }

  Result<std::vector<BasisRow>> basis_rows(std::span<const std::string> terms) override {
    return database_->read([&](Connection& db) { return load_basis_rows(db, terms); });
  }

  Result<std::vector<BasisRow>> basis() override {
    return database_->read([](Connection& db) { return load_basis(db); });
  }

  Result<std::vector<std::vector<TermCount>>> chunk_terms(std::span<const ChunkId> ids) override {
    return database_->read([&](Connection& db) { return load_chunk_terms(db, ids); });
  }

  Result<std::unique_ptr<IndexWriter>> begin_index() override {
    return make_index_writer(database_->address(), schema_);
  }

  Result<std::optional<Session>> session(std::string_view id) override {
    return database_->read([&](Connection& db) { return load_session(db, id); });
  }

  Result<std::optional<Visitor>> visitor(std::string_view id) override {
    return database_->read([&](Connection& db) { return load_visitor(db, id); });
  }

  Result<std::optional<Visitor>> visitor_by_subject(std::string_view subject) override {
    return database_->read([&](Connection& db) { return load_visitor_by_subject(db, subject); });
  }

  size_t max_concurrent_commits() const override { return max_commits_; }

  Result<Session> commit_turn(const TurnRecord& turn) override {
    return database_->write([&](Connection& db) { return merge_turn(db, turn); });
  }

  Result<Visitor> update_visitor(std::string_view id,
                                 const std::optional<std::vector<std::string>>& interests,
                                 std::span<const HistoryEntry> readings, Instant now) override {
    return database_->write(
        [&](Connection& db) { return merge_visitor_update(db, id, interests, readings, now); });
  }

  Result<std::vector<std::string>> all_shown_slugs() override {
    return database_->read([](Connection& db) { return load_all_shown_slugs(db); });
  }

  Result<std::vector<Visitor>> visitors_after(std::string_view id, size_t limit) override {
    return database_->read([&](Connection& db) { return load_visitors_after(db, id, limit); });
  }

  Result<std::vector<Session>> sessions_after(std::string_view id, size_t limit) override {
    return database_->read([&](Connection& db) { return load_sessions_after(db, id, limit); });
  }

  Result<std::vector<std::string>> put_visitors(std::span<const Visitor> visitors) override {
    return database_->write([&](Connection& db) { return merge_visitors(db, visitors); });
  }

  Result<> put_sessions(std::span<const Session> sessions) override {
    return database_->write([&](Connection& db) { return merge_sessions(db, sessions); });
  }

 private:
  const size_t max_commits_;
  const std::unique_ptr<Database> database_;
  const Schema schema_;
  LexicalSearch lexical_;
};

}  // namespace

Result<std::unique_ptr<Store>> open(const std::string& url, OpenMode mode,
                                    const DatabaseOptions& options) {
  STOKA_ASSIGN(DatabaseAddress address, DatabaseAddress::parse(url));
  STOKA_ASSIGN(std::unique_ptr<Database> database, Database::open(std::move(address), options));
  STOKA_ASSIGN(Schema schema,
               mode == OpenMode::read_write ? migrate(*database) : check_schema(*database));
  return std::make_unique<PostgresStore>(std::move(database), std::move(schema),
                                         options.connections);
}

}  // namespace stoka::store::postgres
