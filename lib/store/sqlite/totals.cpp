#include "store/sqlite/totals.h"

#include <nlohmann/json.hpp>
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
  const auto json = nlohmann::json::parse(rows.text(0), nullptr, false);
  if (!json.is_object()) return fail(database.damaged());
  IndexIdentity identity;
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  identity.embedder = text("embedder");
  identity.chunker = text("chunker");
  identity.query_prefix = text("query_prefix");
  // An index from before there were templates was made with the plain one.
  if (const std::string pattern = text("document_template"); !pattern.empty())
    identity.document_template = pattern;
  if (const auto dim = json.find("dim"); dim != json.end() && dim->is_number_integer()) {
    identity.dim = dim->get<int>();
  }
  return identity;
}

Result<> save_identity(Database& database, const IndexIdentity& identity) {
  const nlohmann::ordered_json json = {{"embedder", identity.embedder},
                                       {"dim", identity.dim},
                                       {"chunker", identity.chunker},
                                       {"query_prefix", identity.query_prefix},
                                       {"document_template", identity.document_template}};
  return database.prepare(kSave)
      .bind(kIdentity)
      .bind(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
      .run();
}

}  // namespace stoka::store::sqlite
