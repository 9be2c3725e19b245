#include "store/postgres/index_state.h"

#include <string>

#include "store/json_columns.h"
#include "store/postgres/params.h"

namespace stoka::store::postgres {
namespace {

// The totals in the order of kTotalsColumns.
constexpr uint64_t IndexTotals::*kFields[] = {
    &IndexTotals::generation,    &IndexTotals::documents,         &IndexTotals::chunks,
    &IndexTotals::total_length,  &IndexTotals::vectors,           &IndexTotals::dim,
    &IndexTotals::fitted_chunks, &IndexTotals::changed_since_fit, &IndexTotals::indexed_at,
    &IndexTotals::unfinished,
};

}  // namespace

IndexTotals read_totals(const Rows& rows, size_t row) {
  IndexTotals totals;
  int column = 0;
  for (const auto field : kFields) {
    totals.*field = static_cast<uint64_t>(rows.integer(row, column++));
  }
  return totals;
}

Result<IndexTotals> load_totals(Connection& connection) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT " + std::string(kTotalsColumns) + " FROM stoka_index"));
  if (rows.size() != 1) return fail(damaged());
  return read_totals(rows, 0);
}

Result<std::optional<IndexIdentity>> load_identity(Connection& connection) {
  STOKA_ASSIGN(const Rows rows, connection.run("SELECT identity FROM stoka_index"));
  if (rows.size() != 1) return fail(damaged());
  if (rows.is_null(0, 0)) return std::optional<IndexIdentity>();
  std::optional<IndexIdentity> identity = identity_from_json(rows.text(0, 0));
  if (!identity) return fail(damaged());
  return identity;
}

Result<> save_totals(Connection& connection, const IndexTotals& totals) {
  Params params;
  for (const auto field : kFields) params.integer(static_cast<int64_t>(totals.*field));
  STOKA_TRY(connection.run(
      "UPDATE stoka_index SET generation = $1::bigint, documents = $2::bigint, "
      "chunks = $3::bigint, total_length = $4::bigint, vectors = $5::bigint, dim = $6::bigint, "
      "fitted_chunks = $7::bigint, changed_since_fit = $8::bigint, indexed_at = $9::bigint, "
      "unfinished = $10::bigint <> 0",
      params));
  return {};
}

Result<> save_identity(Connection& connection, const IndexIdentity& identity) {
  STOKA_TRY(connection.run("UPDATE stoka_index SET identity = $1::text::jsonb",
                           Params().text(identity_to_json(identity))));
  return {};
}

Error damaged() {
  return {ErrorKind::data, "the index in the database is damaged",
          "restore the database from a backup, or run: stoka index --rebuild PATH"};
}

}  // namespace stoka::store::postgres
