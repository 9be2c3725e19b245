// Reading an index: what it contains, and the searches in it.
//
// Threads and errors: see store/store.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/document.h"
#include "model/hit.h"
#include "search/bm25.h"

namespace stoka::store {

// How an index was made. A search with another embedder or chunker is refused.
struct IndexIdentity {
  std::string embedder;  // such as "builtin-lsa" or "tei:BAAI/bge-large-en-v1.5@sha"
  int dim = 0;           // the dimension; 0 until the built-in LSA basis is fitted
  std::string chunker;  // the chunker's version and sizes, e.g. "v1 max=512 overlap=64 prefix=full"
  std::string query_prefix;
  std::string document_template = "{text}";  // how a text is embedded, see ingest/chunker.h
  bool operator==(const IndexIdentity&) const = default;
};

struct IdentityMismatch {
  std::string what;  // "embedder", "dimension", "chunker", "query prefix" or "document template"
  std::string made_with;
  std::string wanted;
};

// The first field in which the two identities differ; nothing if the index can be searched and
// extended as wanted. A dimension of 0 on either side matches any.
std::optional<IdentityMismatch> find_mismatch(const IndexIdentity& made_with,
                                              const IndexIdentity& wanted);

struct IndexStats {
  uint64_t documents = 0;
  uint64_t chunks = 0;
  uint64_t vectors = 0;        // number of chunks that have an embedding
  int dim = 0;                 // the dimension of the stored vectors
  uint64_t fitted_chunks = 0;  // chunks that the LSA basis was fitted on; 0: no basis
  uint64_t changed_since_fit = 0;
  uint64_t generation = 0;  // a number that increases with every change by any process
  std::optional<Instant> indexed_at;
  bool unfinished = false;  // an index run is under way or was interrupted
};

struct TermCount {
  std::string term;
  uint32_t count = 0;
};

// A document without its text, as documents() lists it.
struct DocumentInfo {
  Document document;
  int chunks = 0;  // the number of the document's chunks
};

// A term of a BM25 query. Terms of the topic or of interests have other weights than 1.
struct QueryTerm {
  std::string term;
  double weight = 1.0;
};

struct ScoredChunk {
  ChunkId id = 0;
  double score = 0;
};

// Which chunks a search may return. The store applies the filter before it takes the best k.
struct SearchFilter {
  std::set<std::string, std::less<>> exclude_slugs;
};

struct StoredChunk {
  ChunkId id = 0;
  Chunk chunk;
  std::vector<float> embedding;  // the vector; empty unless embeddings were asked for
};

// The row of one term in the LSA basis of the built-in embedder.
struct BasisRow {
  std::string term;
  float weight = 0;           // the global weight of the term (idf)
  std::vector<float> values;  // a row of the basis: `dim` floats
  bool operator==(const BasisRow&) const = default;
};

class IndexReader {
 public:
  virtual ~IndexReader() = default;

  virtual Result<std::optional<IndexIdentity>> identity() = 0;  // nullopt: there is no index
  virtual Result<IndexStats> stats() = 0;
  virtual Result<search::CorpusStats> corpus_stats() = 0;
  virtual Result<std::vector<DocumentInfo>> documents() = 0;  // all documents, ordered by slug
  // Returns the k best chunks by BM25, best first; ties are ordered by slug, then chunk index.
  // There are fewer than k only if no more chunks contain a term of the query.
  virtual Result<std::vector<ScoredChunk>> search_lexical(std::span<const QueryTerm> query,
                                                          size_t k, const SearchFilter& filter) = 0;
  // Returns the k best chunks by cosine similarity to the unit vector `query`, ordered as for BM25.
  virtual Result<std::vector<ScoredChunk>> search_dense(std::span<const float> query, size_t k,
                                                        const SearchFilter& filter) = 0;
  // Returns the chunks with these ids, in the order of `ids`; unknown ids are left out.
  virtual Result<std::vector<StoredChunk>> chunks(std::span<const ChunkId> ids,
                                                  bool with_embeddings = false) = 0;
  virtual Result<std::vector<StoredChunk>> document_chunks(
      std::string_view slug) = 0;  // the chunks of the document, in order
  // In how many chunks each term occurs, in the order of `terms`.
  virtual Result<std::vector<uint64_t>> document_frequencies(
      std::span<const std::string> terms) = 0;
  // Returns the rows of the LSA basis for `terms`, in their order; unknown terms are left out.
  virtual Result<std::vector<BasisRow>> basis_rows(std::span<const std::string> terms) = 0;
  virtual Result<std::vector<BasisRow>> basis() = 0;  // all rows of the LSA basis, by term
  // The terms of each chunk, ordered by term, in the order of `ids`; none for an unknown id.
  virtual Result<std::vector<std::vector<TermCount>>> chunk_terms(std::span<const ChunkId> ids) = 0;
};

}  // namespace stoka::store
