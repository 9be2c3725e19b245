#include "store/postgres/dense_search.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "search/vectors.h"
#include "store/postgres/index_rows.h"
#include "store/postgres/index_state.h"
#include "store/postgres/vector_index.h"
#include "store/rank.h"

namespace stoka::store::postgres {
namespace {

// Finds every row that may be among the k best or tie with the k-th. The tolerance is needed
// because the server adds in another order than search::dot. The operator is <#> (negative inner
// product) and not <=>, because it is defined for a vector of zeros too. There is no cast to the
// dimension of the index, because the planner would then use the index.
constexpr std::string_view kSearchExact =
    "WITH measured AS MATERIALIZED ("
    "  SELECT id, embedding <#> $1::vector AS distance FROM stoka_chunks"
    "  WHERE embedding IS NOT NULL AND source_slug <> ALL($2::text[])"
    "), kth AS ("
    "  SELECT distance FROM measured ORDER BY distance LIMIT 1 OFFSET $3::bigint"
    ") "
    "SELECT id, vector_send(embedding) FROM stoka_chunks WHERE id = ANY(ARRAY("
    "  SELECT id FROM measured"
    "  WHERE distance <= COALESCE((SELECT distance FROM kth), 'Infinity'::float8) + 1e-5))";

struct Search {
  Connection& connection;
  std::span<const float> query;
  size_t k;
  std::vector<std::string> excluded;

  Result<search::VectorTable> exact() const {
    const auto max_offset = static_cast<size_t>(std::numeric_limits<int64_t>::max());
    STOKA_ASSIGN(
        const Rows rows,
        connection.run(kSearchExact, Params().vector(query).texts(excluded).integer(
                                         static_cast<int64_t>(std::min(k - 1, max_offset)))));
    return table(rows);
  }

  // Applies the settings that nearest() needs; returns how many chunks the filter excludes.
  Result<uint64_t> apply_settings(const Extension& extension, size_t limit) const {
    // Forces an index scan, because every other plan would read all vectors. JIT is off, because
    // the planner would use it at the high costs that it estimates with these settings.
    std::string sql =
        "SELECT (SELECT count(*) FROM stoka_chunks WHERE source_slug = ANY($1::text[])), "
        "set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true), "
        "set_config('jit', 'off', true), set_config('hnsw.ef_search', $2::text, true)";
    Params params;
    params.texts(excluded).text(std::to_string(std::min(std::max(kEfSearch, limit), kMaxEfSearch)));
    if (extension.at_least(0, 8)) {
      sql +=
          ", set_config('hnsw.iterative_scan', 'strict_order', true), "
          "set_config('hnsw.max_scan_tuples', $3::text, true)";
      params.text(std::to_string(kMaxScanTuples));
    }
    STOKA_ASSIGN(const Rows rows, connection.run(sql, params));
    return static_cast<uint64_t>(rows.integer(0, 0));
  }

  Result<> reset_settings() const {
    STOKA_TRY(connection.run("SET LOCAL enable_seqscan = on; SET LOCAL enable_sort = on"));
    return {};
  }

  // The nearest `limit` rows, as approximated by the index.
  Result<search::VectorTable> nearest(const std::string& type, size_t limit) const {
    STOKA_ASSIGN(const Rows rows,
                 connection.run(
                     "SELECT id, vector_send(embedding) FROM stoka_chunks "
                     "WHERE vector_dims(embedding) = " +
                         std::to_string(query.size()) +
                         " AND source_slug <> ALL($2::text[]) ORDER BY embedding::" + type +
                         " <=> $1::vector::" + type + " LIMIT $3::bigint",
                     Params().vector(query).texts(excluded).integer(static_cast<int64_t>(limit))));
    return table(rows);
  }

 private:
  Result<search::VectorTable> table(const Rows& rows) const {
    search::VectorTable table;
    table.dim = query.size();
    for (size_t row = 0; row < rows.size(); ++row) {
      const std::vector<float> vector = vector_from_bytes(rows.bytes(row, 1));
      if (vector.size() != table.dim) return fail(damaged());
      table.ids.push_back(rows.integer(row, 0));
      table.values.insert(table.values.end(), vector.begin(), vector.end());
    }
    return table;
  }
};

// Whether `found`, the k best candidates and those that tie with the k-th, is complete. If it has
// all of `limit` candidates, rows that the index did not return may tie with the k-th too.
bool holds_top_k(const std::vector<search::Scored>& found, size_t candidates, size_t limit,
                 size_t k) {
  if (found.size() < k) return false;
  return candidates < limit || found.size() < candidates;
}

}  // namespace

Result<std::vector<ScoredChunk>> search_dense(Connection& connection, const Extension& extension,
                                              std::span<const float> query, size_t k,
                                              const SearchFilter& filter) {
  STOKA_ASSIGN(const IndexTotals totals, load_totals(connection));
  if (totals.vectors == 0) return std::vector<ScoredChunk>();
  STOKA_TRY(check_query(query, totals.dim));
  if (k == 0) return std::vector<ScoredChunk>();
  const auto positions = [&](std::span<const ChunkId> ids) {
    return load_positions(connection, ids);
  };
  const Search search{connection, query, k, excluded_slugs(filter)};

  const std::string type = indexed_type(extension, totals.dim);
  const size_t limit = candidate_count(std::min(k, kMaxEfSearch));
  // The index returns at most ef_search rows.
  if (totals.vectors > kMaxExactVectors && !type.empty() && limit <= kMaxEfSearch) {
    STOKA_ASSIGN(const uint64_t excluded_count, search.apply_settings(extension, limit));
    // If the filter leaves few rows, the vector index may not find them among the excluded ones.
    if (totals.vectors > kMaxExactVectors + excluded_count) {
      STOKA_ASSIGN(const search::VectorTable table, search.nearest(type, limit));
      auto found = search::top_k_with_ties(table, query, k);
      if (holds_top_k(found, table.size(), limit, k))
        return rank_top_k(std::move(found), k, positions);
    }
    STOKA_TRY(search.reset_settings());
  }
  STOKA_ASSIGN(const search::VectorTable table, search.exact());
  return rank_top_k(search::top_k_with_ties(table, query, k), k, positions);
}

}  // namespace stoka::store::postgres
