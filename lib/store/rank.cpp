#include "store/rank.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "store/json_columns.h"

namespace stoka::store {
namespace {

bool is_finite(std::span<const float> vector) {
  return std::all_of(vector.begin(), vector.end(), [](float x) { return std::isfinite(x); });
}

// The ranges [begin, end) of two or more equal scores, if they begin within the first k.
std::vector<std::pair<size_t, size_t>> ties(std::span<const search::Scored> found, size_t k) {
  std::vector<std::pair<size_t, size_t>> runs;
  for (size_t begin = 0; begin < std::min(k, found.size());) {
    size_t end = begin + 1;
    while (end < found.size() && found[end].score == found[begin].score) ++end;
    if (end - begin > 1) runs.emplace_back(begin, end);
    begin = end;
  }
  return runs;
}

}  // namespace

Result<std::vector<ScoredChunk>> rank_top_k(std::vector<search::Scored> found, size_t k,
                                            const PositionLookup& positions_of) {
  const auto runs = ties(found, k);
  std::vector<ChunkId> tied;
  for (const auto& [begin, end] : runs) {
    for (size_t i = begin; i < end; ++i) tied.push_back(found[i].id);
  }
  std::unordered_map<ChunkId, ChunkPosition> positions;
  if (!tied.empty()) {
    STOKA_ASSIGN(std::vector<ChunkPosition> given, positions_of(tied));
    for (ChunkPosition& place : given) positions.emplace(place.id, std::move(place));
  }
  for (const ChunkId id : tied) {
    if (!positions.contains(id)) {
      return fail(ErrorKind::internal, "a search found a chunk that is not stored");
    }
  }
  for (const auto& [begin, end] : runs) {
    std::sort(found.begin() + static_cast<std::ptrdiff_t>(begin),
              found.begin() + static_cast<std::ptrdiff_t>(end),
              [&](const search::Scored& a, const search::Scored& b) {
                const ChunkPosition& first = positions.at(a.id);
                const ChunkPosition& second = positions.at(b.id);
                return std::tie(first.slug, first.index) < std::tie(second.slug, second.index);
              });
  }
  std::vector<ScoredChunk> best;
  for (size_t i = 0; i < std::min(k, found.size()); ++i) {
    best.push_back({found[i].id, found[i].score});
  }
  return best;
}

std::map<std::string, double> term_weights(std::span<const QueryTerm> query) {
  std::map<std::string, double> weights;
  for (const QueryTerm& term : query) weights[sanitize_text(term.term)] += term.weight;
  std::erase_if(weights, [](const auto& weighed) {
    return !(weighed.second > 0) || !std::isfinite(weighed.second);
  });
  return weights;
}

Result<> check_embedding(std::span<const float> vector, uint64_t dim) {
  if (vector.size() != dim) {
    return fail(ErrorKind::config,
                "a vector has " + std::to_string(vector.size()) + " dimensions, the index " +
                    std::to_string(dim),
                "use the embedder that made the index, or index everything again");
  }
  if (!is_finite(vector)) {
    return fail(ErrorKind::data, "a vector holds a value that is not finite", "check the embedder");
  }
  return {};
}

Result<> check_query(std::span<const float> vector, uint64_t dim) {
  if (vector.size() != dim) {
    return fail(ErrorKind::config,
                "the query has " + std::to_string(vector.size()) + " dimensions, the index " +
                    std::to_string(dim),
                "use the embedder that made the index, or index again");
  }
  if (!is_finite(vector)) {
    return fail(ErrorKind::internal, "the vector of the query is not finite");
  }
  return {};
}

Result<> check_embeddings(std::span<const ChunkRecord> chunks, uint64_t& dim) {
  for (const ChunkRecord& record : chunks) {
    if (record.embedding.empty()) continue;
    if (dim == 0) dim = record.embedding.size();
    STOKA_TRY(check_embedding(record.embedding, dim));
  }
  return {};
}

}  // namespace stoka::store
