// The interface to the database of the index and the sessions. Every implementation passes the
// tests of tests/store/contract.h.
//
// Threads: any member may be called from any thread; calls on one Store may wait for each other.
// Errors: not_found (there is no index), data (damaged, or another schema version), busy (another
// index run, or too many callers), unavailable (the database cannot be reached), config (the server
// refuses the settings).
// Ids of sessions and visitors are UUIDs in lower case. Reading with any other id finds nothing;
// writing with one is a usage error.
// Text is stored as valid UTF-8 without NUL. Other text is repaired, both when it is stored and
// when it is searched for: see sanitize_text() in store/json_columns.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/document.h"
#include "model/hit.h"
#include "model/session.h"
#include "search/bm25.h"

namespace stoka::store {

// How an index was made. A search with another embedder or chunker is refused.
struct IndexIdentity {
  std::string embedder;  // "builtin-lsa", "tei:BAAI/bge-large-en-v1.5@sha", …
  int dim = 0;           // 0: known once the built-in LSA basis is fitted
  std::string chunker;   // version and sizes, e.g. "v1 max=512 overlap=64 prefix=full"
  std::string query_prefix;
  std::string document_template = "{text}";  // see ingest/chunker.h
  bool operator==(const IndexIdentity&) const = default;
};

struct IdentityMismatch {
  std::string what;  // "embedder", "dimension", "chunker", "query prefix", "document template"
  std::string made_with;
  std::string wanted;
};

// The first field in which the two differ; nothing if the index can be searched and extended as
// wanted. A dimension of 0 on either side matches any.
std::optional<IdentityMismatch> find_mismatch(const IndexIdentity& made_with,
                                              const IndexIdentity& wanted);

struct IndexStats {
  uint64_t documents = 0;
  uint64_t chunks = 0;
  uint64_t vectors = 0;        // number of chunks that have an embedding
  int dim = 0;                 // of the stored vectors
  uint64_t fitted_chunks = 0;  // chunks that the LSA basis was fitted on; 0: no basis
  uint64_t changed_since_fit = 0;
  uint64_t generation = 0;  // increases with every change, by any process
  std::optional<Instant> indexed_at;
  bool unfinished = false;  // an index run is under way or was interrupted
};

struct TermCount {
  std::string term;
  uint32_t count = 0;
};

// A chunk to be written, with the counts of its terms (each term once). The embedding is empty if
// there is none yet.
struct ChunkRecord {
  Chunk chunk;
  std::vector<TermCount> terms;
  std::vector<float> embedding;
  uint32_t length() const;  // sum of the counts
};

// A document without its text, as documents() lists it.
struct DocumentInfo {
  Document document;
  int chunks = 0;  // how many it has
};

// A term of a BM25 query. Terms of the topic or the interests have other weights than 1.
struct QueryTerm {
  std::string term;
  double weight = 1.0;
};

struct ScoredChunk {
  ChunkId id = 0;
  double score = 0;
};

// Which chunks a search may return. The store applies it before it takes the best k.
struct SearchFilter {
  std::set<std::string, std::less<>> exclude_slugs;
};

struct StoredChunk {
  ChunkId id = 0;
  Chunk chunk;
  std::vector<float> embedding;  // empty unless embeddings were asked for
};

// Whether `id` is a UUID in lower case.
bool is_valid_id(std::string_view id);
// A usage error unless is_valid_id(id). `what` is "session" or "visitor".
Result<> check_id(std::string_view what, std::string_view id);

// The row of one term in the LSA basis of the built-in embedder.
struct BasisRow {
  std::string term;
  float weight = 0;           // global weight (idf)
  std::vector<float> values;  // dim floats
  bool operator==(const BasisRow&) const = default;
};

// The only writer of an index. Destroying it lets other writers in; what it has written stays.
class IndexWriter {
 public:
  virtual ~IndexWriter() = default;

  virtual Result<> set_identity(const IndexIdentity& identity) = 0;

  // Replaces the document with that slug, its chunks, postings and vectors, in one transaction.
  virtual Result<> put_document(const Document& document, std::span<const ChunkRecord> chunks) = 0;
  // Removes the document in one transaction. An unknown slug is not an error.
  virtual Result<> remove_document(std::string_view slug) = 0;
  // Removes documents, chunks, postings, vectors and the basis. Sessions stay.
  virtual Result<> clear() = 0;

  // Visits the terms of every chunk, in ascending order of ids, until `visit` returns false.
  virtual Result<> each_chunk_terms(
      const std::function<bool(ChunkId, std::span<const TermCount>)>& visit) = 0;
  // Replaces the basis and the vectors of all chunks, in one transaction. vectors(id) is called
  // once for each chunk, in ascending order; it returns an empty vector for a chunk without one.
  virtual Result<> replace_basis(std::span<const BasisRow> basis, int dim, uint64_t fitted_chunks,
                                 const std::function<std::vector<float>(ChunkId)>& vectors) = 0;
  // Marks the index run as finished at `now` (IndexStats::indexed_at).
  virtual Result<> finish(Instant now) = 0;
};

// How many turns may be committed concurrently on that many connections. One is left for readers.
inline size_t commit_concurrency(size_t connections) {
  return connections > 1 ? connections - 1 : 1;
}

class Store {
 public:
  virtual ~Store() = default;

  virtual std::string describe() const = 0;  // "sqlite:/path/to.db"; without the password

  // -- reading the index
  virtual Result<std::optional<IndexIdentity>> identity() = 0;  // empty: there is no index
  virtual Result<IndexStats> stats() = 0;
  virtual Result<search::CorpusStats> corpus_stats() = 0;
  virtual Result<std::vector<DocumentInfo>> documents() = 0;  // by slug
  // The k best chunks by BM25, best first; ties are ordered by slug, then chunk index. Fewer than k
  // only if no more chunks contain a term.
  virtual Result<std::vector<ScoredChunk>> search_lexical(std::span<const QueryTerm> query,
                                                          size_t k, const SearchFilter& filter) = 0;
  // The same by cosine similarity to `query`, which is a unit vector.
  virtual Result<std::vector<ScoredChunk>> search_dense(std::span<const float> query, size_t k,
                                                        const SearchFilter& filter) = 0;
  // In the order of `ids`; unknown ids are left out.
  virtual Result<std::vector<StoredChunk>> chunks(std::span<const ChunkId> ids,
                                                  bool with_embeddings = false) = 0;
  virtual Result<std::vector<StoredChunk>> document_chunks(
      std::string_view slug) = 0;  // by chunk index
  // In how many chunks each term occurs, in the order of `terms`.
  virtual Result<std::vector<uint64_t>> document_frequencies(
      std::span<const std::string> terms) = 0;
  // In the order of `terms`; terms that are not in the basis are left out.
  virtual Result<std::vector<BasisRow>> basis_rows(std::span<const std::string> terms) = 0;
  virtual Result<std::vector<BasisRow>> basis() = 0;  // all rows, by term
  // The terms of each chunk, ordered by term, in the order of `ids`; none for an unknown id.
  virtual Result<std::vector<std::vector<TermCount>>> chunk_terms(std::span<const ChunkId> ids) = 0;

  // -- writing the index. Only one process can: the others get a busy error that says which.
  virtual Result<std::unique_ptr<IndexWriter>> begin_index() = 0;

  // -- sessions
  virtual Result<std::optional<Session>> session(std::string_view id) = 0;
  virtual Result<std::optional<Visitor>> visitor(std::string_view id) = 0;
  // The only visitor with that subject; nothing for the empty subject.
  virtual Result<std::optional<Visitor>> visitor_by_subject(std::string_view subject) = 0;
  // Creates the visitor and the session if they are new, merges the turn into them and returns the
  // session after it. One transaction; concurrent turns of a session are all kept.
  virtual Result<Session> commit_turn(const TurnRecord& turn) = 0;
  // The same for several turns, in order; one that fails does not affect the others. A store that
  // waits for the disk does so once for all.
  virtual std::vector<Result<Session>> commit_turns(std::span<const TurnRecord> turns);
  // How many commits make progress concurrently. If 1, waiting turns should be committed together.
  virtual size_t max_concurrent_commits() const { return 1; }
  // Replaces the interests if they are given and merges `read` into the visitor's history, in one
  // transaction. An unknown visitor is created.
  virtual Result<Visitor> update_visitor(std::string_view id,
                                         const std::optional<std::vector<std::string>>& interests,
                                         std::span<const HistoryEntry> read, Instant now) = 0;
  // Every slug that was shown in any session.
  virtual Result<std::vector<std::string>> all_shown_slugs() = 0;

  // -- copying sessions to another store
  // At most `limit` rows with a larger id than `id` ("" for the first ones), ordered by id.
  virtual Result<std::vector<Visitor>> visitors_after(std::string_view id, size_t limit) = 0;
  virtual Result<std::vector<Session>> sessions_after(std::string_view id, size_t limit) = 0;
  // Merges rows into the existing ones, in one transaction; merging the same rows again changes
  // nothing. Returns the id under which each visitor is kept: the id of the existing visitor with
  // the same subject, else its own.
  virtual Result<std::vector<std::string>> put_visitors(std::span<const Visitor> visitors) = 0;
  virtual Result<> put_sessions(std::span<const Session> sessions) = 0;
};

}  // namespace stoka::store
