#include "store/sqlite/index_state.h"

#include <string_view>

#include "store/json_columns.h"

namespace stoka::store::sqlite {
namespace {

struct Field {
  std::string_view key;
  uint64_t IndexTotals::*value;
};

constexpr Field kFields[] = {
    {"generation", &IndexTotals::generation},
    {"documents", &IndexTotals::documents},
    {"chunks", &IndexTotals::chunks},
    {"total_length", &IndexTotals::total_length},
    {"vectors", &IndexTotals::vectors},
    {"dim", &IndexTotals::dim},
    {"fitted_chunks", &IndexTotals::fitted_chunks},
    {"changed_since_fit", &IndexTotals::changed_since_fit},
    {"indexed_at", &IndexTotals::indexed_at},
    {"unfinished", &IndexTotals::unfinished},
};

constexpr std::string_view kIdentityKey = "identity";
constexpr std::string_view kUpsertMeta =
    "INSERT INTO stoka_meta (key, value) VALUES (?, ?) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value";

}  // namespace

Result<IndexTotals> load_totals(Connection& connection) {
  IndexTotals totals;
  Statement rows = connection.prepare("SELECT key, value FROM stoka_meta WHERE key <> 'identity'");
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return totals;
    const std::string key = rows.text(0);
    for (const Field& field : kFields) {
      if (field.key == key) totals.*field.value = static_cast<uint64_t>(rows.integer(1));
    }
  }
}

Result<> save_totals(Connection& connection, const IndexTotals& totals) {
  Statement save = connection.prepare(kUpsertMeta);
  for (const Field& field : kFields) {
    save.bind(field.key).bind(static_cast<int64_t>(totals.*field.value));
    STOKA_TRY(save.run());
    save.reset();
  }
  return {};
}

Result<std::optional<IndexIdentity>> load_identity(Connection& connection) {
  Statement rows = connection.prepare("SELECT value FROM stoka_meta WHERE key = ?");
  rows.bind(kIdentityKey);
  STOKA_ASSIGN(const bool row, rows.step());
  if (!row) return std::optional<IndexIdentity>();
  std::optional<IndexIdentity> identity = identity_from_json(rows.text(0));
  if (!identity) return fail(connection.damaged());
  return identity;
}

Result<> save_identity(Connection& connection, const IndexIdentity& identity) {
  return connection.prepare(kUpsertMeta).bind(kIdentityKey).bind(identity_to_json(identity)).run();
}

Result<bool> has_unfinished_chunks(Connection& connection) {
  STOKA_ASSIGN(
      const int64_t exists,
      connection.integer("SELECT EXISTS (SELECT 1 FROM stoka_chunks WHERE created_at IS NULL)"));
  return exists != 0;
}

}  // namespace stoka::store::sqlite
