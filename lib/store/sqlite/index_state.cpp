#include "store/sqlite/index_state.h"

#include <string_view>

namespace stoka::store::sqlite {
namespace {

struct Field {
  std::string_view key;
  uint64_t Totals::*value;
};

constexpr Field kFields[] = {
    {"generation", &Totals::generation},
    {"documents", &Totals::documents},
    {"chunks", &Totals::chunks},
    {"total_length", &Totals::total_length},
    {"vectors", &Totals::vectors},
    {"dim", &Totals::dim},
    {"fitted_chunks", &Totals::fitted_chunks},
    {"changed_since_fit", &Totals::changed_since_fit},
    {"indexed_at", &Totals::indexed_at},
};

constexpr std::string_view kIdentity = "identity";
constexpr std::string_view kSave =
    "INSERT INTO stoka_meta (key, value) VALUES (?, ?) "
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value";

}  // namespace

Result<Totals> load_totals(Database& database) {
  Totals totals;
  Statement rows = database.prepare("SELECT key, value FROM stoka_meta WHERE key <> 'identity'");
  for (;;) {
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return totals;
    const std::string key = rows.text(0);
    for (const Field& field : kFields) {
      if (field.key == key) totals.*field.value = static_cast<uint64_t>(rows.integer(1));
    }
  }
}

Result<> save_totals(Database& database, const Totals& totals) {
  Statement save = database.prepare(kSave);
  for (const Field& field : kFields) {
    save.bind(field.key).bind(static_cast<int64_t>(totals.*field.value));
    STOKA_TRY(save.run());
    save.reset();
  }
  return {};
}

Result<std::optional<IndexIdentity>> load_identity(Database& database) {
  Statement rows = database.prepare("SELECT value FROM stoka_meta WHERE key = ?");
  rows.bind(kIdentity);
  STOKA_ASSIGN(const bool row, rows.step());
  if (!row) return std::optional<IndexIdentity>();
  std::optional<IndexIdentity> identity = identity_from_json(rows.text(0));
  if (!identity) return fail(database.damaged());
  return identity;
}

Result<> save_identity(Database& database, const IndexIdentity& identity) {
  return database.prepare(kSave).bind(kIdentity).bind(identity_json(identity)).run();
}

Result<bool> load_unfinished(Database& database) {
  STOKA_ASSIGN(
      const int64_t exists,
      database.integer("SELECT EXISTS (SELECT 1 FROM stoka_chunks WHERE created_at IS NULL)"));
  return exists != 0;
}

}  // namespace stoka::store::sqlite
