#include "store/sqlite/store.h"

#include <filesystem>
#include <mutex>
#include <type_traits>
#include <utility>

#include "store/sqlite/connection.h"
#include "store/sqlite/database_file.h"
#include "store/sqlite/dense_search.h"
#include "store/sqlite/index_rows.h"
#include "store/sqlite/index_state.h"
#include "store/sqlite/index_writer.h"
#include "store/sqlite/lexical_search.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/session_rows.h"

namespace stoka::store::sqlite {
namespace {

class SqliteStore final : public Store {
 public:
  SqliteStore(std::string path, std::unique_ptr<Connection> reader)
      : path_(std::move(path)), readers_(std::move(reader)) {}

  std::string describe() const override { return "sqlite:" + path_; }

  Result<std::optional<IndexIdentity>> identity() override { return read(load_identity); }

  Result<IndexStats> stats() override {
    return read([](Connection& db) -> Result<IndexStats> {
      STOKA_ASSIGN(const Transaction snapshot, Transaction::begin(db, Transaction::Kind::read));
      STOKA_ASSIGN(IndexTotals totals, load_totals(db));
      STOKA_ASSIGN(const bool has_unfinished, has_unfinished_chunks(db));
      totals.unfinished |= has_unfinished;
      return totals.stats();
    });
  }

  Result<search::CorpusStats> corpus_stats() override {
    STOKA_ASSIGN(const IndexTotals totals, read(load_totals));
    return totals.corpus();
  }

  Result<std::vector<DocumentInfo>> documents() override { return read(load_documents); }

  Result<std::vector<ScoredChunk>> search_lexical(std::span<const QueryTerm> query, size_t k,
                                                  const SearchFilter& filter) override {
    return read([&](Connection& db) { return lexical_.search(db, query, k, filter); });
  }

  Result<std::vector<ScoredChunk>> search_dense(std::span<const float> query, size_t k,
                                                const SearchFilter& filter) override {
    return read([&](Connection& db) { return dense_.search(db, query, k, filter); });
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

  Result<std::unique_ptr<IndexWriter>> begin_index() override { return make_index_writer(path_); }

  Result<std::optional<Session>> session(std::string_view id) override {
    return read(load_session, id);
  }

  Result<std::optional<Visitor>> visitor(std::string_view id) override {
    return read(load_visitor, id);
  }

  Result<std::optional<Visitor>> visitor_by_subject(std::string_view subject) override {
    if (subject.empty()) return std::optional<Visitor>();
    return read(load_visitor_by_subject, subject);
  }

  Result<Session> commit_turn(const TurnRecord& turn) override { return write(merge_turn, turn); }

  // All turns are stored in one transaction. A turn that fails is rolled back to its savepoint.
  std::vector<Result<Session>> commit_turns(std::span<const TurnRecord> turns) override {
    std::vector<Result<Session>> out;
    const auto done = write([&](Connection& db) -> Result<> {
      for (const TurnRecord& turn : turns) {
        STOKA_TRY(db.execute("SAVEPOINT turn"));
        out.push_back(merge_turn(db, turn));
        if (!out.back()) STOKA_TRY(db.execute("ROLLBACK TO turn"));
        STOKA_TRY(db.execute("RELEASE turn"));
      }
      return {};
    });
    if (!done) out.assign(turns.size(), fail(done.error()));
    return out;
  }

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
    STOKA_ASSIGN(const ConnectionPool::Handle connection, readers_.acquire());
    return work(*connection, args...);
  }

  // Runs `work` in a transaction on the only connection that writes turns.
  template <class Work, class... Args>
  auto write(const Work& work, const Args&... args)
      -> std::invoke_result_t<const Work&, Connection&, const Args&...> {
    const std::lock_guard lock(turns_mutex_);
    if (!turns_) {
      STOKA_ASSIGN(turns_, Connection::open(path_, Role::turns));
    }
    if (turns_->read_only()) return fail(turns_->read_only_error());
    STOKA_ASSIGN(Transaction transaction, Transaction::begin(*turns_, Transaction::Kind::write));
    auto done = work(*turns_, args...);
    if (done) STOKA_TRY(transaction.commit());
    return done;
  }

  const std::string path_;
  ConnectionPool readers_;
  LexicalSearch lexical_;
  DenseSearch dense_;
  std::mutex turns_mutex_;
  std::unique_ptr<Connection> turns_;
};

}  // namespace

Result<std::unique_ptr<Store>> open(const std::string& path, OpenMode mode) {
  std::error_code ignored;
  const std::filesystem::path full = std::filesystem::absolute(path, ignored);
  const std::string place = ignored ? path : full.lexically_normal().string();
  if (mode == OpenMode::read_write) {
    STOKA_TRY(create_file(place));
    STOKA_ASSIGN(const std::unique_ptr<Connection> connection,
                 Connection::open(place, Role::index));
    STOKA_TRY(migrate(*connection));
  } else {
    STOKA_TRY(require_file(place));
  }
  STOKA_ASSIGN(std::unique_ptr<Connection> reader, Connection::open(place, Role::read));
  STOKA_TRY(check_schema(*reader));
  return std::make_unique<SqliteStore>(place, std::move(reader));
}

}  // namespace stoka::store::sqlite
