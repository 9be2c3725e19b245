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

// Every row that may be among the k best, and what ties with the k-th: the server adds up in
// another order than search::dot, so its distances are a little off.
//
// <#> and not <=>: by <#> a vector of zeros has a distance as well. No cast to the dimension of the
// index, which would take the index.
constexpr std::string_view kExact =
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
    const auto most = static_cast<size_t>(std::numeric_limits<int64_t>::max());
    STOKA_ASSIGN(const Rows rows,
                 connection.run(kExact, Params().vector(query).texts(excluded).integer(
                                            static_cast<int64_t>(std::min(k - 1, most)))));
    return table(rows);
  }

  // Settings for near(), until forget_settings(); gives how many chunks the filter leaves out.
  Result<uint64_t> prepare(const Extension& extension, size_t limit) const {
    // Any other plan than the index in its order would read every vector; and what it is thought to
    // cost then would start the compiler of plans.
    std::string sql =
        "SELECT (SELECT count(*) FROM stoka_chunks WHERE source_slug = ANY($1::text[])), "
        "set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true), "
        "set_config('jit', 'off', true), set_config('hnsw.ef_search', $2::text, true)";
    Params params;
    params.texts(excluded).text(
        std::to_string(std::min(std::max(kSearchWidth, limit), kMostWidth)));
    if (extension.at_least(0, 8)) {
      sql +=
          ", set_config('hnsw.iterative_scan', 'strict_order', true), "
          "set_config('hnsw.max_scan_tuples', $3::text, true)";
      params.text(std::to_string(kMostScanned));
    }
    STOKA_ASSIGN(const Rows rows, connection.run(sql, params));
    return static_cast<uint64_t>(rows.integer(0, 0));
  }

  Result<> forget_settings() const {
    STOKA_TRY(connection.run("SET LOCAL enable_seqscan = on; SET LOCAL enable_sort = on"));
    return {};
  }

  // Candidates of the index, the nearest `limit` as far as it knows.
  Result<search::VectorTable> near(const std::string& type, size_t limit) const {
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

// Whether the candidates hold the k best: there are as many, and what ties with the k-th does not
// go on behind the last of them.
bool enough(const std::vector<search::Scored>& found, size_t candidates, size_t limit, size_t k) {
  if (found.size() < k) return false;
  return candidates < limit || found.size() < candidates;
}

}  // namespace

Result<std::vector<ScoredChunk>> search_vectors(Connection& connection, const Extension& extension,
                                                std::span<const float> query, size_t k,
                                                const SearchFilter& filter) {
  STOKA_ASSIGN(const Totals totals, load_totals(connection));
  if (totals.vectors == 0) return std::vector<ScoredChunk>();
  STOKA_TRY(check_query(query, totals.dim));
  if (k == 0) return std::vector<ScoredChunk>();
  const auto places = [&](std::span<const ChunkId> ids) { return load_places(connection, ids); };
  const Search search{connection, query, k, excluded_slugs(filter)};

  const std::string type = indexed_type(extension, totals.dim);
  const size_t limit = over_fetch(std::min(k, kMostWidth));
  // The index gives no more at a time than it keeps in mind.
  if (totals.vectors > kExactUpTo && !type.empty() && limit <= kMostWidth) {
    STOKA_ASSIGN(const uint64_t left_out, search.prepare(extension, limit));
    // Of few rows the index finds none behind those that the filter leaves out.
    if (totals.vectors > kExactUpTo + left_out) {
      STOKA_ASSIGN(const search::VectorTable table, search.near(type, limit));
      auto found = search::top_k_with_ties(table, query, k);
      if (enough(found, table.size(), limit, k)) return ranked(std::move(found), k, places);
    }
    STOKA_TRY(search.forget_settings());
  }
  STOKA_ASSIGN(const search::VectorTable table, search.exact());
  return ranked(search::top_k_with_ties(table, query, k), k, places);
}

}  // namespace stoka::store::postgres
