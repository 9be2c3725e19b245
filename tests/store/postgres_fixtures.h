// Consistency checks of an index in PostgreSQL, and servers that a test may stop.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "store/open.h"
#include "store/postgres_test_server.h"
#include "store/versions.h"
#include "support/postgres.h"

namespace stoka::store::postgres {

std::unique_ptr<Store> open_store(const std::string& url);

// Counts rows without their parent rows, and totals that do not match.
inline constexpr const char* kCountInconsistencies =
    "SELECT (SELECT count(*) FROM stoka_chunks c WHERE NOT EXISTS "
    "(SELECT FROM stoka_documents d WHERE d.slug = c.source_slug)) + "
    "(SELECT count(*) FROM stoka_chunks c WHERE NOT EXISTS "
    "(SELECT FROM stoka_chunk_terms t WHERE t.chunk_id = c.id)) + "
    "(SELECT count(*) FROM stoka_postings p WHERE NOT EXISTS "
    "(SELECT FROM stoka_terms t WHERE t.id = p.term_id)) + "
    "(SELECT count(*) FROM stoka_terms WHERE df <= 0) + "
    "(SELECT count(*) FROM stoka_index i WHERE (documents, chunks, vectors) IS DISTINCT FROM "
    "((SELECT count(*) FROM stoka_documents), (SELECT count(*) FROM stoka_chunks), "
    "(SELECT count(embedding) FROM stoka_chunks)))";

inline constexpr const char* kVectorIndex =
    "SELECT substring(indexdef FROM 'USING.*') FROM pg_indexes "
    "WHERE schemaname = current_schema() AND indexname = 'stoka_chunks_embedding'";

// The log of a server.
std::string log_of(const testing::PostgresServer& server);

// A new database on a server that a test may stop, if it starts it again. The server logs every
// statement.
struct RestartableDatabase {
  testing::PostgresServer& server;
  std::string name;

  // Nothing, with a doctest message, if the server has no pgvector.
  static std::optional<RestartableDatabase> make();
  std::string sql(const std::string& statements) const { return server.sql(statements, name); }
  std::string url() const { return server.url(name); }
};

// A tmpfs of limited size, owned by the user of the server.
class SmallDisk {
 public:
  // Null, with a doctest message, without the privilege to mount it.
  static std::unique_ptr<SmallDisk> mount(const std::filesystem::path& at, const std::string& size,
                                          const std::filesystem::path& data);
  ~SmallDisk();

 private:
  explicit SmallDisk(std::filesystem::path at) : at_(std::move(at)) {}
  const std::filesystem::path at_;
};

// Whether the test database has several backends; if not, with a doctest message.
bool many_backends();

}  // namespace stoka::store::postgres
