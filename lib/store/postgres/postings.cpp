#include "store/postgres/postings.h"

#include <utility>

#include "store/postgres/params.h"
#include "store/postgres/state.h"

namespace stoka::store::postgres {
namespace {

struct Keys {
  std::vector<int64_t> blocks;
  std::vector<int64_t> terms;
  void add(const BlockKey& key) {
    blocks.push_back(key.block);
    terms.push_back(key.term);
  }
};

// The bytes of those blocks that are there.
Result<std::map<BlockKey, std::string>> load_blocks(Connection& connection,
                                                    const std::map<BlockKey, BlockEdit>& edits) {
  Keys keys;
  for (const auto& [key, edit] : edits) keys.add(key);
  STOKA_ASSIGN(const Rows rows,
               connection.run("SELECT p.block, p.term_id, p.data "
                              "FROM unnest($1::bigint[], $2::bigint[]) AS k (block, term) "
                              "JOIN stoka_postings p ON p.term_id = k.term AND p.block = k.block",
                              Params().integers(keys.blocks).integers(keys.terms)));
  std::map<BlockKey, std::string> found;
  for (size_t row = 0; row < rows.size(); ++row) {
    found.emplace(BlockKey{rows.integer(row, 0), rows.integer(row, 1)}, rows.bytes(row, 2));
  }
  return found;
}

}  // namespace

Result<std::vector<int64_t>> term_ids(Connection& connection, std::span<const std::string> terms) {
  std::vector<int64_t> ids(terms.size());
  if (terms.empty()) return ids;
  // What the statement inserts it does not find in the table, hence two ways to the ids. A conflict
  // would use up an id: small ids that lie close together make short lists.
  STOKA_ASSIGN(
      const Rows rows,
      connection.run(
          "WITH wanted AS (SELECT * FROM unnest($1::text[]) WITH ORDINALITY AS w (term, n)), "
          "added AS (INSERT INTO stoka_terms (term, df) SELECT w.term, 0 FROM wanted w "
          "WHERE NOT EXISTS (SELECT FROM stoka_terms t WHERE t.term = w.term) ORDER BY w.n "
          "RETURNING id, term) "
          "SELECT w.n, t.id FROM wanted w JOIN stoka_terms t USING (term) UNION ALL "
          "SELECT w.n, a.id FROM wanted w JOIN added a USING (term)",
          Params().texts(terms)));
  if (rows.size() != terms.size()) return fail(damaged());
  for (size_t row = 0; row < rows.size(); ++row) {
    ids[static_cast<size_t>(rows.integer(row, 0)) - 1] = rows.integer(row, 1);
  }
  return ids;
}

Result<> insert_chunk_terms(Connection& connection, std::span<const ChunkId> chunks,
                            std::span<const std::string> terms) {
  if (chunks.empty()) return {};
  STOKA_TRY(
      connection.run("INSERT INTO stoka_chunk_terms (chunk_id, data) "
                     "SELECT * FROM unnest($1::bigint[], $2::bytea[])",
                     Params().integers(chunks).blobs(terms)));
  return {};
}

Result<> apply_blocks(Connection& connection, const std::map<BlockKey, BlockEdit>& edits) {
  if (edits.empty()) return {};
  STOKA_ASSIGN(const auto before, load_blocks(connection, edits));
  Keys gone, kept;
  std::vector<std::string> data;
  for (const auto& [key, edit] : edits) {
    const auto known = before.find(key);
    std::string after;
    if (!apply_edit(edit, known == before.end() ? std::string_view() : known->second, after))
      return fail(damaged());
    (after.empty() ? gone : kept).add(key);
    if (!after.empty()) data.push_back(std::move(after));
  }
  STOKA_TRY(
      connection.run("WITH gone AS (DELETE FROM stoka_postings p "
                     "USING unnest($1::bigint[], $2::bigint[]) AS k (block, term) "
                     "WHERE p.term_id = k.term AND p.block = k.block) "
                     "INSERT INTO stoka_postings (block, term_id, data) "
                     "SELECT * FROM unnest($3::bigint[], $4::bigint[], $5::bytea[]) "
                     "ON CONFLICT (term_id, block) DO UPDATE SET data = excluded.data",
                     Params()
                         .integers(gone.blocks)
                         .integers(gone.terms)
                         .integers(kept.blocks)
                         .integers(kept.terms)
                         .blobs(data)));
  return {};
}

Result<> apply_frequencies(Connection& connection, const std::map<int64_t, int64_t>& changes) {
  if (changes.empty()) return {};
  std::vector<int64_t> terms, by;
  for (const auto& [term, change] : changes) {
    terms.push_back(term);
    by.push_back(change);
  }
  STOKA_TRY(connection.run(
      "WITH changes AS (SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS c (term, by)), "
      "gone AS (DELETE FROM stoka_terms t USING changes c "
      "WHERE t.id = c.term AND c.by < 0 AND t.df + c.by <= 0) "
      "UPDATE stoka_terms t SET df = t.df + c.by FROM changes c "
      "WHERE t.id = c.term AND t.df + c.by > 0",
      Params().integers(terms).integers(by)));
  return {};
}

}  // namespace stoka::store::postgres
