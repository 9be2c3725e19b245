#include "store/postgres/vector_index.h"

#include <fmt/format.h>

#include <string_view>

namespace stoka::store::postgres {
namespace {

// The maximum dimensions that pgvector can index.
constexpr uint64_t kMaxHalfvecDimensions = 4000;
constexpr uint64_t kMaxVectorDimensions = 2000;

// The HNSW parameters m (links of a node) and ef_construction (candidates for them).
constexpr int kHnswM = 16;
constexpr int kHnswEfConstruction = 64;

// The memory for building. Building is many times slower once the graph exceeds this memory.
constexpr std::string_view kRaiseMaintenanceMemory =
    "SELECT set_config('maintenance_work_mem', '256MB', true) "
    "WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('256MB')";

// The type of the existing index; empty if there is none.
Result<std::string> existing_type(Connection& connection) {
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT format_type(a.atttypid, a.atttypmod) FROM pg_index i "
                              "JOIN pg_attribute a ON a.attrelid = i.indexrelid "
                              "WHERE i.indexrelid = to_regclass('stoka_chunks_embedding')"));
  return std::string(rows.size() == 0 ? std::string_view() : rows.text(0, 0));
}

// The index covers only rows of that dimension, because the cast fails for others. Replaced rows of
// another dimension may still exist for older snapshots, and CREATE INDEX visits them.
Result<> build(Connection& connection, const std::string& type, uint64_t dim) {
  const std::string_view family = std::string_view(type).substr(0, type.find('('));
  const std::string create = fmt::format(
      "CREATE INDEX stoka_chunks_embedding ON stoka_chunks USING hnsw "
      "((embedding::{}) {}_cosine_ops) WITH (m = {}, ef_construction = {}) "
      "WHERE vector_dims(embedding) = {}",
      type, family, kHnswM, kHnswEfConstruction, dim);
  STOKA_TRY(connection.run(kRaiseMaintenanceMemory));
  STOKA_TRY(connection.run("SAVEPOINT before_vector_index"));
  auto built = connection.run(create);
  // Parallel workers need shared memory, of which containers often have little. The server then
  // runs out of memory (class 53) or cannot extend a file (class 58): the index is built without
  // them.
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
  if (extension.at_least(0, 7) && dim <= kMaxHalfvecDimensions)
    return fmt::format("halfvec({})", dim);
  if (dim <= kMaxVectorDimensions) return fmt::format("vector({})", dim);
  return {};
}

Result<> create_vector_index(Connection& connection, const Extension& extension, uint64_t dim) {
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
