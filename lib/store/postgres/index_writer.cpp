#include "store/postgres/index_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/postgres/database.h"
#include "store/postgres/index_lease.h"
#include "store/postgres/index_state.h"
#include "store/postgres/index_updates.h"
#include "store/postgres/params.h"
#include "store/postgres/vector_index.h"
#include "store/rank.h"
#include "store/term_names.h"

namespace stoka::store::postgres {
namespace {

constexpr int64_t kPageSize = 1000;  // chunks read at a time

constexpr std::chrono::minutes kHeartbeatInterval(1);
constexpr int kMaxDropAttempts = 8;
constexpr std::chrono::milliseconds kDropRetryDelay(250);

// The largest dimension that pgvector can store.
constexpr size_t kMaxDimensions = 16000;

// Lets the server cancel a statement, which may take minutes, when this process is killed, so that
// the lease becomes free. Not every server platform supports the setting.
constexpr std::string_view kCheckClientConnection =
    "DO $$ BEGIN PERFORM set_config('client_connection_check_interval', '1s', true); "
    "EXCEPTION WHEN OTHERS THEN NULL; END $$";

// The distinct terms of some chunks.
class Vocabulary {
 public:
  explicit Vocabulary(std::span<const ChunkRecord> chunks) {
    for (const ChunkRecord& record : chunks) {
      for (const TermCount& term : record.terms) {
        if (term.count > 0 && indexes_.emplace(term.term, terms_.size()).second)
          terms_.push_back(term.term);
      }
    }
  }

  const std::vector<std::string>& terms() const { return terms_; }

  // The terms of a chunk by id. `ids` are the ids of terms().
  std::vector<ChunkTerm> by_id(const ChunkRecord& record, std::span<const int64_t> ids) const {
    std::vector<ChunkTerm> out;
    out.reserve(record.terms.size());
    for (const TermCount& term : record.terms) {
      if (term.count > 0) out.push_back({ids[indexes_.at(term.term)], term.count});
    }
    return out;
  }

 private:
  std::vector<std::string> terms_;
  std::unordered_map<std::string_view, size_t> indexes_;
};

class PostgresIndexWriter final : public IndexWriter {
 public:
  PostgresIndexWriter(std::unique_ptr<Database> database, IndexLease lease, Extension extension)
      : database_(std::move(database)),
        lease_(std::move(lease)),
        extension_(std::move(extension)),
        heartbeat_([this](const std::stop_token& stop) { run_heartbeat(stop); }) {}

  Result<> set_identity(const IndexIdentity& identity) override {
    return database_->write([&](Connection& connection) -> Result<> {
      STOKA_TRY(lease_.renew(connection));
      return save_identity(connection, identity);
    });
  }

  Result<> put_document(const Document& document, std::span<const ChunkRecord> chunks) override {
    return change([&](Connection& connection, IndexTotals& totals) -> Result<> {
      STOKA_TRY(check(chunks, totals));
      PostingEdits edits;
      STOKA_ASSIGN(const uint64_t removed, remove(connection, document.slug, totals, edits));
      STOKA_TRY(insert_document(connection, document, chunks.size()));
      STOKA_TRY(add(connection, document, chunks, totals, edits));
      ++totals.documents;
      totals.changed_since_fit += std::max<uint64_t>(removed, chunks.size());
      return apply(connection, edits);
    });
  }

  Result<> remove_document(std::string_view slug) override {
    return change([&](Connection& connection, IndexTotals& totals) -> Result<> {
      PostingEdits edits;
      STOKA_ASSIGN(const uint64_t removed, remove(connection, slug, totals, edits));
      totals.changed_since_fit += removed;
      return apply(connection, edits);
    });
  }

  Result<> clear() override {
    try_drop_vector_index();
    return change([&](Connection& connection, IndexTotals& totals) -> Result<> {
      totals = {.generation = totals.generation, .unfinished = 1};
      return delete_index(connection);
    });
  }

  Result<> each_chunk_terms(
      const std::function<bool(ChunkId, std::span<const TermCount>)>& visit) override;

  Result<> replace_basis(std::span<const BasisRow> basis, int dim, uint64_t fitted_chunks,
                         const std::function<std::vector<float>(ChunkId)>& vectors) override;

  Result<> finish(Instant now) override;

 private:
  // Runs `work` in a transaction and increases the generation, which invalidates the readers'
  // caches. After a rollback `work` may be run again, so it must not keep state outside the
  // database.
  template <class Work>
  Result<> change(const Work& work) {
    return database_->write([&](Connection& connection) -> Result<> {
      STOKA_ASSIGN(IndexTotals totals, lease_.renew(connection));
      totals.unfinished = 1;
      STOKA_TRY(work(connection, totals));
      changed_ = true;
      ++totals.generation;
      return save_totals(connection, totals);
    });
  }

  // Drops the vector index if readers allow it. DROP INDEX waits for readers, and new readers wait
  // for it: so it waits only briefly, in a transaction of its own, and is tried several times. If
  // it never succeeds, the index stays, which is safe: it contains only rows of its own dimension.
  void try_drop_vector_index(std::string_view unless = {}) {
    for (int attempt = 0; attempt < kMaxDropAttempts; ++attempt) {
      const auto dropped = database_->write([&](Connection& connection) -> Result<> {
        STOKA_TRY(lease_.renew(connection));
        STOKA_TRY(connection.run("SET LOCAL lock_timeout = 250"));
        return drop_vector_index(connection, unless);
      });
      if (dropped || dropped.error().kind != ErrorKind::busy) return;
      std::this_thread::sleep_for(kDropRetryDelay);
    }
  }

  // Renews the lease regularly, because a run may compute for longer than the lease lasts before it
  // writes. Errors are ignored here; the next transaction of the run reports them.
  void run_heartbeat(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!never.wait_for(lock, stop, kHeartbeatInterval, [&] { return stop.stop_requested(); }) &&
           !stop.stop_requested()) {
      static_cast<void>(database_->write([&](Connection& connection) -> Result<> {
        STOKA_TRY(lease_.renew(connection));
        return {};
      }));
    }
  }

  // Checks the vectors of new chunks.
  static Result<> check(std::span<const ChunkRecord> chunks, IndexTotals& totals);
  // Returns the number of removed chunks.
  static Result<uint64_t> remove(Connection& connection, std::string_view slug, IndexTotals& totals,
                                 PostingEdits& edits);
  Result<> add(Connection& connection, const Document& document,
               std::span<const ChunkRecord> chunks, IndexTotals& totals, PostingEdits& edits) const;
  static Result<> apply(Connection& connection, const PostingEdits& edits) {
    STOKA_TRY(apply_blocks(connection, edits.blocks()));
    return apply_frequencies(connection, edits.frequencies());
  }

  std::unique_ptr<Database> database_;
  IndexLease lease_;  // released before the connection is closed
  Extension extension_;
  bool changed_ = false;  // whether this run has changed the index
  std::jthread heartbeat_;
};

Result<> PostgresIndexWriter::check(std::span<const ChunkRecord> chunks, IndexTotals& totals) {
  STOKA_TRY(check_embeddings(chunks, totals.dim));
  if (totals.dim <= kMaxDimensions) return {};
  return fail(ErrorKind::config,
              "a vector has " + std::to_string(totals.dim) + " dimensions, pgvector stores " +
                  std::to_string(kMaxDimensions) + " at most",
              "use another embedder, or a SQLite store");
}

Result<uint64_t> PostgresIndexWriter::remove(Connection& connection, std::string_view slug,
                                             IndexTotals& totals, PostingEdits& edits) {
  STOKA_ASSIGN(const RemovedDocument removed, postgres::remove_document(connection, slug));
  for (const RemovedChunk& chunk : removed.chunks) {
    totals.total_length -= edits.remove(chunk.id, chunk.terms);
  }
  totals.chunks -= removed.chunks.size();
  totals.vectors -= removed.vectors;
  totals.documents -= removed.existed;
  return removed.chunks.size();
}

Result<> PostgresIndexWriter::add(Connection& connection, const Document& document,
                                  std::span<const ChunkRecord> chunks, IndexTotals& totals,
                                  PostingEdits& edits) const {
  STOKA_ASSIGN(const std::vector<ChunkId> ids,
               insert_chunks(connection, extension_, document, chunks));
  const Vocabulary vocabulary(chunks);
  STOKA_ASSIGN(const std::vector<int64_t> terms, term_ids(connection, vocabulary.terms()));
  std::vector<std::string> encoded;
  for (size_t i = 0; i < chunks.size(); ++i) {
    std::vector<ChunkTerm> of_chunk = vocabulary.by_id(chunks[i], terms);
    STOKA_ASSIGN(const uint32_t length, edits.add(ids[i], of_chunk));
    totals.total_length += length;
    totals.vectors += !chunks[i].embedding.empty();
    encoded.push_back(encode_chunk_terms(of_chunk));
  }
  totals.chunks += chunks.size();
  return insert_chunk_terms(connection, ids, encoded);
}

Result<> PostgresIndexWriter::each_chunk_terms(
    const std::function<bool(ChunkId, std::span<const TermCount>)>& visit) {
  // Terms are sorted by name, because their ids depend on the order of indexing.
  STOKA_ASSIGN(const Rows terms_by_name, database_->read([](Connection& connection) {
    return connection.run("SELECT id, term FROM stoka_terms ORDER BY term");
  }));
  TermNames names;
  for (size_t row = 0; row < terms_by_name.size(); ++row)
    names.add(terms_by_name.integer(row, 0), std::string(terms_by_name.text(row, 1)));
  std::vector<ChunkTerm> stored;
  std::vector<TermCount> terms;
  for (ChunkId last = -1;;) {
    STOKA_ASSIGN(const Rows rows, database_->read([&](Connection& connection) {
      return connection.run(
          "SELECT chunk_id, data FROM stoka_chunk_terms WHERE chunk_id > $1::bigint "
          "ORDER BY chunk_id LIMIT $2::bigint",
          Params().integer(last).integer(kPageSize));
    }));
    for (size_t row = 0; row < rows.size(); ++row) {
      if (!decode_chunk_terms(rows.bytes(row, 1), stored) || !names.look_up(stored, terms))
        return fail(damaged());
      last = rows.integer(row, 0);
      if (!visit(last, terms)) return {};
    }
    if (rows.size() < kPageSize) return {};
  }
}

Result<> PostgresIndexWriter::replace_basis(
    std::span<const BasisRow> basis, int dim, uint64_t fitted_chunks,
    const std::function<std::vector<float>(ChunkId)>& vectors) {
  const auto width = static_cast<uint64_t>(dim);
  for (const BasisRow& row : basis) STOKA_TRY(check_embedding(row.values, width));
  // The changes are computed before the transaction, which may be run again. The lease keeps others
  // from changing chunks meanwhile.
  STOKA_ASSIGN(const Rows chunks, database_->read([](Connection& connection) {
    return connection.run("SELECT id FROM stoka_chunks ORDER BY id");
  }));
  std::vector<ChunkId> ids;
  std::vector<std::vector<float>> computed;
  uint64_t count = 0;
  for (size_t row = 0; row < chunks.size(); ++row) {
    ids.push_back(chunks.integer(row, 0));
    const std::vector<float>& vector = computed.emplace_back(vectors(ids.back()));
    if (vector.empty()) continue;
    STOKA_TRY(check_embedding(vector, width));
    ++count;
  }
  try_drop_vector_index();
  return change([&](Connection& connection, IndexTotals& totals) -> Result<> {
    STOKA_TRY(connection.run(kCheckClientConnection));
    STOKA_TRY(replace_basis_rows(connection, basis));
    STOKA_TRY(update_vectors(connection, extension_, ids, computed));
    totals.dim = width;
    totals.vectors = count;
    totals.fitted_chunks = fitted_chunks;
    totals.changed_since_fit = 0;
    return {};
  });
}

Result<> PostgresIndexWriter::finish(Instant now) {
  STOKA_ASSIGN(const IndexTotals before,
               database_->read([](Connection& connection) { return load_totals(connection); }));
  try_drop_vector_index(indexed_type(extension_, before.vectors > 0 ? before.dim : 0));
  const auto work = [&](Connection& connection, IndexTotals& totals) -> Result<> {
    totals.indexed_at = static_cast<uint64_t>(now.time_since_epoch().count());
    totals.unfinished = 0;
    STOKA_TRY(connection.run(kCheckClientConnection));
    if (totals.vectors > 0) STOKA_TRY(create_vector_index(connection, extension_, totals.dim));
    if (!changed_) return {};
    // Runs ANALYZE, because the planner needs statistics before autovacuum runs. ANALYZE may fail,
    // for example when autovacuum holds the table; the run is finished all the same.
    STOKA_TRY(connection.run("SAVEPOINT before_analyze"));
    if (!connection.run("ANALYZE stoka_documents, stoka_chunks, stoka_terms, stoka_postings, "
                        "stoka_chunk_terms, stoka_basis"))
      STOKA_TRY(connection.run("ROLLBACK TO SAVEPOINT before_analyze"));
    return {};
  };
  return change(work);
}

// Checks that the role may create the index, which only the owner of the table can; without this
// check the run would fail at its end.
Result<> check_owner(Connection& connection) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT pg_has_role(current_user, relowner, 'USAGE'), "
                              "pg_get_userbyid(relowner), current_user "
                              "FROM pg_class WHERE oid = 'stoka_chunks'::regclass"));
  if (rows.size() != 1) return fail(damaged());
  if (rows.boolean(0, 0)) return {};
  return fail(
      ErrorKind::config,
      fmt::format("role {} does not own the index, {} does", rows.text(0, 2), rows.text(0, 1)),
      fmt::format("connect as {}, or: GRANT {} TO {}", rows.text(0, 1), rows.text(0, 1),
                  rows.text(0, 2)));
}

}  // namespace

Result<std::unique_ptr<IndexWriter>> make_index_writer(const DatabaseAddress& address,
                                                       const Schema& schema) {
  DatabaseOptions options;
  options.connections = 1;
  options.statement_timeout = {};  // no timeout: building an index over many vectors takes minutes
  STOKA_ASSIGN(std::unique_ptr<Database> database, Database::open(address, options));
  database->set_search_path({schema.name, schema.vector.schema});
  STOKA_TRY(database->read(check_owner));
  STOKA_ASSIGN(IndexLease lease, IndexLease::acquire(*database));
  return std::make_unique<PostgresIndexWriter>(std::move(database), std::move(lease),
                                               schema.vector);
}

}  // namespace stoka::store::postgres
