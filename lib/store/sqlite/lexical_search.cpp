#include "store/sqlite/lexical_search.h"

#include <memory>

#include "search/scan.h"
#include "store/posting_edits.h"
#include "store/sqlite/index_rows.h"
#include "store/sqlite/index_state.h"

namespace stoka::store::sqlite {

Result<std::vector<ScoredChunk>> LexicalSearch::search(Connection& connection,
                                                       std::span<const QueryTerm> query, size_t k,
                                                       const SearchFilter& filter) {
  STOKA_ASSIGN(Transaction snapshot, Transaction::begin(connection, Transaction::Kind::read));
  STOKA_ASSIGN(const IndexTotals totals, load_totals(connection));
  const double average_length = totals.corpus().average_length();
  std::vector<Column> columns;
  std::vector<search::ScanTerm> terms;
  for (const auto& [term, weight] : term_weights(query)) {
    STOKA_ASSIGN(const Column found, column(connection, term, totals));
    if (!found) continue;
    columns.push_back(found);
    terms.push_back({found.get(), weight * search::idf(totals.chunks, found->size())});
  }
  STOKA_ASSIGN(const std::vector<ChunkId> excluded, excluded_chunks(connection, filter));
  return rank_top_k(connection, search::scan(terms, average_length, kBm25, k, excluded), k);
}

Result<LexicalSearch::Column> LexicalSearch::column(Connection& connection, const std::string& term,
                                                    const IndexTotals& totals) {
  if (Column kept = column_cache_.get(term, totals.generation)) return kept;
  STOKA_ASSIGN(Column loaded, load(connection, term, totals));
  if (loaded) column_cache_.put(term, loaded, totals.generation);
  return loaded;
}

Result<std::vector<int64_t>> LexicalSearch::blocks(Connection& connection,
                                                   const IndexTotals& totals) {
  {
    const std::lock_guard lock(mutex_);
    if (totals.generation == blocks_generation_ && !blocks_.empty()) return blocks_;
  }
  // The query needs one index seek for each block; SELECT DISTINCT would read every row.
  std::vector<int64_t> blocks;
  Statement rows =
      connection.prepare("SELECT block FROM stoka_postings WHERE block > ? ORDER BY block LIMIT 1");
  for (;;) {
    rows.reset().bind(blocks.empty() ? int64_t{-1} : blocks.back());
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) break;
    blocks.push_back(rows.integer(0));
  }
  const std::lock_guard lock(mutex_);
  if (totals.generation >= blocks_generation_) {
    blocks_ = blocks;
    blocks_generation_ = totals.generation;
  }
  return blocks;
}

Result<LexicalSearch::Column> LexicalSearch::load(Connection& connection, const std::string& term,
                                                  const IndexTotals& totals) {
  int64_t term_id = 0;
  {
    Statement row = connection.prepare("SELECT id FROM stoka_terms WHERE term = ?");
    row.bind(term);
    STOKA_ASSIGN(const bool found, row.step());
    if (!found) return Column();
    term_id = row.integer(0);
  }
  STOKA_ASSIGN(const std::vector<int64_t> numbers, blocks(connection, totals));
  Statement rows =
      connection.prepare("SELECT data FROM stoka_postings WHERE block = ? AND term_id = ?");
  std::vector<search::Posting> all;
  std::vector<search::Posting> part;
  for (const int64_t block : numbers) {
    rows.reset().bind(block).bind(term_id);
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) continue;
    if (!decode_block(block, rows.blob(0), part)) return fail(connection.damaged());
    all.insert(all.end(), part.begin(), part.end());
  }
  if (all.empty()) return Column();
  return std::make_shared<const search::TermColumn>(all, totals.corpus().average_length(), kBm25);
}

}  // namespace stoka::store::sqlite
