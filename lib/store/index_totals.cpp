#include "store/index_totals.h"

#include <nlohmann/json.hpp>

#include "store/json_columns.h"

namespace stoka::store {

IndexStats IndexTotals::stats(bool unfinished) const {
  IndexStats stats;
  stats.documents = documents;
  stats.chunks = chunks;
  stats.vectors = vectors;
  stats.dim = static_cast<int>(dim);
  stats.fitted_chunks = fitted_chunks;
  stats.changed_since_fit = fitted_chunks ? changed_since_fit : 0;
  stats.generation = generation;
  if (indexed_at != 0) {
    stats.indexed_at = Instant(std::chrono::milliseconds(static_cast<int64_t>(indexed_at)));
  }
  stats.unfinished = unfinished;
  return stats;
}

std::string identity_to_json(const IndexIdentity& identity) {
  const nlohmann::ordered_json json = {
      {"embedder", sanitize_text(identity.embedder)},
      {"dim", identity.dim},
      {"chunker", sanitize_text(identity.chunker)},
      {"query_prefix", sanitize_text(identity.query_prefix)},
      {"document_template", sanitize_text(identity.document_template)}};
  return json.dump();
}

std::optional<IndexIdentity> identity_from_json(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto member = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  IndexIdentity identity;
  identity.embedder = member("embedder");
  identity.chunker = member("chunker");
  identity.query_prefix = member("query_prefix");
  // Older indexes have no template: they were made with the default one.
  if (const std::string pattern = member("document_template"); !pattern.empty())
    identity.document_template = pattern;
  if (const auto dim = json.find("dim"); dim != json.end() && dim->is_number_integer()) {
    identity.dim = dim->get<int>();
  }
  return identity;
}

}  // namespace stoka::store
