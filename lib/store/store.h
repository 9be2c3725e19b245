// Where the index and the sessions live. One interface; every store passes tests/store/contract.h.
//
// Threads: any member may be called from any thread; calls on one Store may wait for each other.
// Errors: not_found (no index there), data (damaged, wrong schema), busy (another indexer, too many
// callers), unavailable (database gone), config (what the server refuses).
// Ids of sessions and visitors are UUIDs in lower case: nothing has another id, and to store
// something under one is a usage error.
// Text is kept as valid UTF-8 without NUL: what is not is repaired (see storable() in
// store/columns.h), when it is stored and when it is asked for.
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

// How an index was made. Searching with anything else is refused.
struct IndexIdentity {
  std::string embedder;  // "builtin-lsa", "tei:BAAI/bge-large-en-v1.5@sha", …
  int dim = 0;           // 0: decided when the built-in basis is fitted
  std::string chunker;   // version and sizes, e.g. "v1 max=512 overlap=64 prefix=full"
  std::string query_prefix;
  std::string document_template = "{text}";  // see ingest/chunker.h
  bool operator==(const IndexIdentity&) const = default;
};

struct IdentityDifference {
  std::string what;  // "embedder", "dimension", "chunker", "query prefix", "document template"
  std::string made_with;
  std::string wanted;
};

// The first thing in which an index was not made as wanted; nothing if it can be searched and added
// to. A dimension of 0 on either side fits any.
std::optional<IdentityDifference> difference(const IndexIdentity& made_with,
                                             const IndexIdentity& wanted);

struct IndexStats {
  uint64_t documents = 0;
  uint64_t chunks = 0;
  uint64_t vectors = 0;        // chunks that have an embedding
  int dim = 0;                 // of the stored vectors
  uint64_t fitted_chunks = 0;  // chunks the built-in basis was fitted on; 0: no basis
  uint64_t changed_since_fit = 0;
  uint64_t generation = 0;  // rises with every change of the index, by any process
  std::optional<Instant> indexed_at;
  bool unfinished = false;  // an index run is under way, or one did not come to its end
};

struct TermCount {
  std::string term;
  uint32_t count = 0;
};

// A chunk as it is written: its terms with counts (each term once), and its vector if there is one
// yet.
struct ChunkRecord {
  Chunk chunk;
  std::vector<TermCount> terms;
  std::vector<float> embedding;
  uint32_t length() const;  // sum of the counts
};

// A document as listed: what an incremental run compares and what slugs, titles and tags are known.
struct DocumentInfo {
  Document document;
  int chunks = 0;
};

// Words of a query for BM25: a term may have a weight other than one (topic bias, interests).
struct QueryTerm {
  std::string term;
  double weight = 1.0;
};

struct ScoredChunk {
  ChunkId id = 0;
  double score = 0;
};

// Chunks that may be returned. Applied inside the store's search, never after it.
struct SearchFilter {
  std::set<std::string, std::less<>> exclude_slugs;
};

struct StoredChunk {
  ChunkId id = 0;
  Chunk chunk;
  std::vector<float> embedding;  // empty unless asked for
};

// Whether it is a UUID in lower case.
bool is_id(std::string_view id);
// A usage error unless it is one. `what`: "session" or "visitor".
Result<> check_id(std::string_view what, std::string_view id);

// The fitted basis of the built-in embedder: one row a term.
struct BasisRow {
  std::string term;
  float weight = 0;           // global weight (idf)
  std::vector<float> values;  // dim floats
  bool operator==(const BasisRow&) const = default;
};

// The one writer of an index. Destroying it releases the index; what was put stays.
class IndexWriter {
 public:
  virtual ~IndexWriter() = default;

  virtual Result<> set_identity(const IndexIdentity& identity) = 0;

  // Replaces the document of that slug and all its chunks, postings and vectors: one transaction.
  virtual Result<> put_document(const Document& document, std::span<const ChunkRecord> chunks) = 0;
  // Gone from dense and lexical search at once: one transaction. Unknown slugs are no error.
  virtual Result<> remove_document(std::string_view slug) = 0;
  // Everything: documents, chunks, postings, vectors, basis. Sessions stay.
  virtual Result<> clear() = 0;

  // Terms of every chunk in ascending id order, for fitting. The callback may stop the walk by
  // returning false.
  virtual Result<> each_chunk_terms(
      const std::function<bool(ChunkId, std::span<const TermCount>)>& visit) = 0;
  // Replaces the basis and the vectors of all chunks: one transaction. vectors(id) is called once a
  // chunk in ascending order; an empty vector leaves that chunk without one.
  virtual Result<> replace_basis(std::span<const BasisRow> basis, int dim, uint64_t fitted_chunks,
                                 const std::function<std::vector<float>(ChunkId)>& vectors) = 0;
  // Marks the run as finished (indexed_at).
  virtual Result<> finish(Instant now) = 0;
};

// How many turns may be committed at once with that many connections: one is left for readers.
inline size_t commits_with(size_t connections) { return connections > 1 ? connections - 1 : 1; }

class Store {
 public:
  virtual ~Store() = default;

  virtual std::string describe() const = 0;  // "sqlite:/path/to.db", without secrets

  // -- the index, reading
  virtual Result<std::optional<IndexIdentity>> identity() = 0;  // empty: nothing was ever indexed
  virtual Result<IndexStats> stats() = 0;
  virtual Result<search::CorpusStats> corpus_stats() = 0;
  virtual Result<std::vector<DocumentInfo>> documents() = 0;  // by slug
  // Best first, ties by slug then chunk index; at most k; never fewer than exist.
  virtual Result<std::vector<ScoredChunk>> search_lexical(std::span<const QueryTerm> query,
                                                          size_t k, const SearchFilter& filter) = 0;
  // Cosine to a unit vector. Best first, ties as above.
  virtual Result<std::vector<ScoredChunk>> search_dense(std::span<const float> query, size_t k,
                                                        const SearchFilter& filter) = 0;
  // In the order asked for; ids that do not exist are left out.
  virtual Result<std::vector<StoredChunk>> chunks(std::span<const ChunkId> ids,
                                                  bool with_embeddings = false) = 0;
  virtual Result<std::vector<StoredChunk>> chunks_of(std::string_view slug) = 0;  // by chunk index
  // In how many chunks each term occurs, in the order asked for.
  virtual Result<std::vector<uint64_t>> document_frequencies(
      std::span<const std::string> terms) = 0;
  // Rows of the terms that are in the basis, in the order asked for; others are left out.
  virtual Result<std::vector<BasisRow>> basis_rows(std::span<const std::string> terms) = 0;
  // The whole basis, by term.
  virtual Result<std::vector<BasisRow>> basis() = 0;
  // The terms of each chunk by term, in the order asked for; none for an id that does not exist.
  virtual Result<std::vector<std::vector<TermCount>>> terms_of(std::span<const ChunkId> ids) = 0;

  // -- the index, writing. A second writer anywhere gets a busy error that says who holds it.
  virtual Result<std::unique_ptr<IndexWriter>> begin_index() = 0;

  // -- sessions
  virtual Result<std::optional<Session>> session(std::string_view id) = 0;
  virtual Result<std::optional<Visitor>> visitor(std::string_view id) = 0;
  // The one visitor who has that subject; nobody has the empty one.
  virtual Result<std::optional<Visitor>> visitor_of(std::string_view subject) = 0;
  // Creates visitor and session if they are new, merges the turn into them and returns the session
  // as it is then: one transaction, safe against turns of the same session elsewhere.
  virtual Result<Session> commit_turn(const TurnRecord& turn) = 0;
  // The same for many, in order; each fails for itself. A store that waits for the disk waits once.
  virtual std::vector<Result<Session>> commit_turns(std::span<const TurnRecord> turns);
  // How many commits get on at a time. One: what waits is better stored together.
  virtual size_t commits_at_a_time() const { return 1; }
  // Creates or replaces interests and merges readings into the visitor's history: one transaction.
  virtual Result<Visitor> update_visitor(std::string_view id,
                                         const std::optional<std::vector<std::string>>& interests,
                                         std::span<const Reading> read, Instant now) = 0;
  // Every slug that any session was shown (check 11 of the acceptance list).
  virtual Result<std::vector<std::string>> all_shown_slugs() = 0;

  // -- sessions, to be carried to another store
  // The next ones by id after that one ("" for the first), at most so many; none at the end.
  virtual Result<std::vector<Visitor>> visitors_after(std::string_view id, size_t most) = 0;
  virtual Result<std::vector<Session>> sessions_after(std::string_view id, size_t most) = 0;
  // Merges rows into those that are there, so that the same rows twice change nothing: one
  // transaction. Gives the id under which each visitor is kept: that of the visitor who has the
  // same subject already, else its own.
  virtual Result<std::vector<std::string>> put_visitors(std::span<const Visitor> visitors) = 0;
  virtual Result<> put_sessions(std::span<const Session> sessions) = 0;
};

}  // namespace stoka::store
