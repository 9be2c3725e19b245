#include "store/postgres/lexical_search.h"

#include <memory>
#include <utility>

#include "search/scan.h"
#include "store/postgres/index_rows.h"
#include "store/postgres/index_state.h"
#include "store/posting_edits.h"
#include "store/rank.h"

namespace stoka::store::postgres {
namespace {

// The ids of the chunks that the filter excludes, ascending.
Result<std::vector<ChunkId>> excluded_chunks(Connection& connection, const SearchFilter& filter) {
  std::vector<ChunkId> ids;
  if (filter.exclude_slugs.empty()) return ids;
  STOKA_ASSIGN(
      const Rows rows,
      connection.run("SELECT id FROM stoka_chunks WHERE source_slug = ANY($1::text[]) ORDER BY id",
                     Params().texts(excluded_slugs(filter))));
  for (size_t row = 0; row < rows.size(); ++row) ids.push_back(rows.integer(row, 0));
  return ids;
}

}  // namespace

Result<std::vector<ScoredChunk>> LexicalSearch::search(Connection& connection,
                                                       std::span<const QueryTerm> query, size_t k,
                                                       const SearchFilter& filter) {
  const std::map<std::string, double> weights = term_weights(query);
  STOKA_ASSIGN(const IndexTotals totals, load_totals(connection));
  Columns columns;
  std::vector<std::string> missing;
  for (const auto& [term, weight] : weights) {
    if (const auto column = column_cache_.get(term, totals.generation)) {
      columns.emplace(term, column);
    } else {
      missing.push_back(term);
    }
  }
  if (!missing.empty()) STOKA_TRY(load(connection, missing, totals, columns));
  if (columns.empty()) return std::vector<ScoredChunk>();
  std::vector<search::ScanTerm> terms;
  for (const auto& [term, column] : columns) {
    terms.push_back({column.get(), weights.at(term) * search::idf(totals.chunks, column->size())});
  }
  STOKA_ASSIGN(const std::vector<ChunkId> excluded, excluded_chunks(connection, filter));
  return rank_top_k(search::scan(terms, totals.corpus().average_length(), kBm25, k, excluded), k,
                    [&](std::span<const ChunkId> ids) { return load_positions(connection, ids); });
}

Result<> LexicalSearch::load(Connection& connection, std::span<const std::string> terms,
                             const IndexTotals& totals, Columns& columns) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT t.term, p.block, p.data FROM stoka_terms t "
                              "JOIN stoka_postings p ON p.term_id = t.id "
                              "WHERE t.term = ANY($1::text[]) ORDER BY t.term, p.block",
                              Params().texts(terms)));
  std::vector<search::Posting> all;
  std::vector<search::Posting> part;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!decode_block(rows.integer(row, 1), rows.bytes(row, 2), part)) return fail(damaged());
    all.insert(all.end(), part.begin(), part.end());
    if (row + 1 < rows.size() && rows.text(row + 1, 0) == rows.text(row, 0)) continue;
    std::string term(rows.text(row, 0));
    const auto column =
        std::make_shared<const search::TermColumn>(all, totals.corpus().average_length(), kBm25);
    column_cache_.put(term, column, totals.generation);
    columns.emplace(std::move(term), column);
    all.clear();
  }
  return {};
}

}  // namespace stoka::store::postgres
