#include "store/sqlite/rank.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace stoka::store::sqlite {
namespace {

using Iterator = std::vector<search::Scored>::iterator;

Result<> order_ties(Database& database, Iterator begin, Iterator end) {
  struct Place {
    std::string slug;
    int64_t index;
    ChunkId id;
  };
  std::vector<Place> places;
  Statement rows =
      database.prepare("SELECT source_slug, chunk_index FROM stoka_chunks WHERE id = ?");
  for (auto tied = begin; tied != end; ++tied) {
    rows.reset().bind(tied->id);
    STOKA_ASSIGN(const bool row, rows.step());
    if (!row) return fail(database.damaged());
    places.push_back({rows.text(0), rows.integer(1), tied->id});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.slug, a.index) < std::tie(b.slug, b.index);
  });
  for (size_t i = 0; i < places.size(); ++i) {
    begin[static_cast<std::ptrdiff_t>(i)].id = places[i].id;
  }
  return {};
}

}  // namespace

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
  for (auto begin = found.begin(); begin != found.end();) {
    const auto end = std::find_if(begin, found.end(),
                                  [&](const search::Scored& s) { return s.score != begin->score; });
    if (end - begin > 1) STOKA_TRY(order_ties(database, begin, end));
    begin = end;
  }
  std::vector<ScoredChunk> best;
  for (size_t i = 0; i < std::min(k, found.size()); ++i) {
    best.push_back({found[i].id, found[i].score});
  }
  return best;
}

}  // namespace stoka::store::sqlite
