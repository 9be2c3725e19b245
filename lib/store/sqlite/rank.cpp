#include "store/sqlite/rank.h"

#include <algorithm>
#include <string>
#include <utility>

namespace stoka::store::sqlite {

Result<std::vector<ChunkId>> excluded_chunks(Database& database, const SearchFilter& filter) {
  std::vector<ChunkId> ids;
  Statement rows = database.prepare("SELECT id FROM stoka_chunks WHERE source_slug = ?");
  for (const std::string& slug : filter.exclude_slugs) {
    rows.reset().bind(slug);
    for (;;) {
      STOKA_ASSIGN(const bool row, rows.step());
      if (!row) break;
      ids.push_back(rows.integer(0));
    }
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<std::vector<ScoredChunk>> ranked(Database& database, std::vector<search::Scored> found,
                                        size_t k) {
  return store::ranked(
      std::move(found), k, [&](std::span<const ChunkId> ids) -> Result<std::vector<Place>> {
        std::vector<Place> places;
        Statement rows =
            database.prepare("SELECT source_slug, chunk_index FROM stoka_chunks WHERE id = ?");
        for (const ChunkId id : ids) {
          rows.reset().bind(id);
          STOKA_ASSIGN(const bool row, rows.step());
          if (!row) return fail(database.damaged());
          places.push_back({id, rows.text(0), rows.integer(1)});
        }
        return places;
      });
}

}  // namespace stoka::store::sqlite
