#include "store/postgres/vector_index.h"

#include <fmt/format.h>

#include <string_view>

namespace stoka::store::postgres {
namespace {

// The most dimensions that pgvector indexes of each type.
constexpr uint64_t kMostHalf = 4000;
constexpr uint64_t kMostFull = 2000;

// Neighbours a node keeps, and candidates looked at to find them.
constexpr int kNeighbours = 16;
constexpr int kCandidates = 64;

// A graph that outgrows this memory while it is built is built many times slower.
constexpr std::string_view kMoreMemory =
    "SELECT set_config('maintenance_work_mem', '256MB', true) "
    "WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('256MB')";

// The type the index is over, if there is one that can be used.
Result<std::string> existing_type(Connection& connection) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT format_type(a.atttypid, a.atttypmod) FROM pg_index i "
                              "JOIN pg_attribute a ON a.attrelid = i.indexrelid "
                              "WHERE i.indexrelid = to_regclass('stoka_chunks_embedding')"));
  return std::string(rows.size() == 0 ? std::string_view() : rows.text(0, 0));
}

// Rows of another dimension are left out: also those that were replaced, which a build still meets
// as long as somebody's snapshot may see them, and which the type would refuse.
Result<> build(Connection& connection, const std::string& type, uint64_t dim) {
  const std::string_view family = std::string_view(type).substr(0, type.find('('));
  const std::string create = fmt::format(
      "CREATE INDEX stoka_chunks_embedding ON stoka_chunks USING hnsw "
      "((embedding::{}) {}_cosine_ops) WITH (m = {}, ef_construction = {}) "
      "WHERE vector_dims(embedding) = {}",
      type, family, kNeighbours, kCandidates, dim);
  STOKA_TRY(connection.run(kMoreMemory));
  STOKA_TRY(connection.run("SAVEPOINT before_vector_index"));
  auto built = connection.run(create);
  // Workers share memory, and containers often have little of that kind: the server runs out of it
  // (53) or fails with a file (58).
  if (!built &&
      (connection.sqlstate().starts_with("53") || connection.sqlstate().starts_with("58"))) {
    STOKA_TRY(connection.run("ROLLBACK TO SAVEPOINT before_vector_index"));
    STOKA_TRY(connection.run("SET LOCAL max_parallel_maintenance_workers = 0"));
    built = connection.run(create);
  }
  STOKA_TRY(std::move(built));
  return {};
}

}  // namespace

std::string indexed_type(const Extension& extension, uint64_t dim) {
  if (dim == 0) return {};
  if (extension.at_least(0, 7) && dim <= kMostHalf) return fmt::format("halfvec({})", dim);
  if (dim <= kMostFull) return fmt::format("vector({})", dim);
  return {};
}

Result<> make_vector_index(Connection& connection, const Extension& extension, uint64_t dim) {
  const std::string type = indexed_type(extension, dim);
  if (type.empty()) return {};
  STOKA_ASSIGN(const std::string existing, existing_type(connection));
  if (!existing.empty()) return {};
  return build(connection, type, dim);
}

Result<> drop_vector_index(Connection& connection, std::string_view unless) {
  STOKA_ASSIGN(const std::string existing, existing_type(connection));
  if (existing.empty() || existing == unless) return {};
  STOKA_TRY(connection.run("DROP INDEX stoka_chunks_embedding"));
  return {};
}

}  // namespace stoka::store::postgres
