#include "store/postgres/store.h"

#include <type_traits>
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

  Result<std::optional<IndexIdentity>> identity() override { return read(load_identity); }

  Result<IndexStats> stats() override {
    STOKA_ASSIGN(const IndexTotals totals, read(load_totals));
    return totals.stats();
  }

  Result<search::CorpusStats> corpus_stats() override {
    STOKA_ASSIGN(const IndexTotals totals, read(load_totals));
    return totals.corpus();
  }

  Result<std::vector<DocumentInfo>> documents() override { return read(load_documents); }

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
    return read(load_chunks, ids, with_embeddings);
  }

  Result<std::vector<StoredChunk>> document_chunks(std::string_view slug) override {
    return read(load_document_chunks, slug);
  }

  Result<std::vector<uint64_t>> document_frequencies(std::span<const std::string> terms) override {
    return read(load_document_frequencies, terms);
  }

  Result<std::vector<BasisRow>> basis_rows(std::span<const std::string> terms) override {
    return read(load_basis_rows, terms);
  }

  Result<std::vector<BasisRow>> basis() override { return read(load_basis); }

  Result<std::vector<std::vector<TermCount>>> chunk_terms(std::span<const ChunkId> ids) override {
    return read(load_chunk_terms, ids);
  }

  Result<std::unique_ptr<IndexWriter>> begin_index() override {
    return make_index_writer(database_->address(), schema_);
  }

  Result<std::optional<Session>> session(std::string_view id) override {
    return read(load_session, id);
  }

  Result<std::optional<Visitor>> visitor(std::string_view id) override {
    return read(load_visitor, id);
  }

  Result<std::optional<Visitor>> visitor_by_subject(std::string_view subject) override {
    return read(load_visitor_by_subject, subject);
  }

  size_t max_concurrent_commits() const override { return max_commits_; }

  Result<Session> commit_turn(const TurnRecord& turn) override { return write(merge_turn, turn); }

  Result<Visitor> update_visitor(std::string_view id,
                                 const std::optional<std::vector<std::string>>& interests,
                                 std::span<const HistoryEntry> readings, Instant now) override {
    return write(merge_visitor_update, id, interests, readings, now);
  }

  Result<std::vector<std::string>> all_shown_slugs() override { return read(load_all_shown_slugs); }

  Result<std::vector<Visitor>> visitors_after(std::string_view id, size_t limit) override {
    return read(load_visitors_after, id, limit);
  }

  Result<std::vector<Session>> sessions_after(std::string_view id, size_t limit) override {
    return read(load_sessions_after, id, limit);
  }

  Result<std::vector<std::string>> put_visitors(std::span<const Visitor> visitors) override {
    return write(merge_visitors, visitors);
  }

  Result<> put_sessions(std::span<const Session> sessions) override {
    return write(merge_sessions, sessions);
  }

 private:
  template <class Work, class... Args>
  auto read(const Work& work, const Args&... args)
      -> std::invoke_result_t<const Work&, Connection&, const Args&...> {
    return database_->read([&](Connection& db) { return work(db, args...); });
  }
  template <class Work, class... Args>
  auto write(const Work& work, const Args&... args)
      -> std::invoke_result_t<const Work&, Connection&, const Args&...> {
    return database_->write([&](Connection& db) { return work(db, args...); });
  }

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
