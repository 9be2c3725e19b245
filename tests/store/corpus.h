// Synthetic ids and documents, and a brute-force search over them for comparison.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace stoka::store {

struct RankedChunk {
  std::string slug;
  int index = 0;
  double score = 0;
  bool operator==(const RankedChunk&) const = default;
};

// A UUID made of a name of at most 16 bytes. UUIDs of names of equal length have the order of the
// names.
std::string uuid(std::string_view name);

// A chunk whose content are its terms.
ChunkRecord make_chunk(const std::string& slug, int index, std::vector<TermCount> terms,
                       std::vector<float> embedding = {});
Document make_document(const std::string& slug);

// The documents that a store is expected to contain.
class Corpus {
 public:
  explicit Corpus(uint32_t seed) : random_(seed) {}

  // Puts a document with random chunks of the terms t0 … t59 (t0 in most chunks, t59 in few), each
  // with a unit vector of 4 coarse values, so that ties are common.
  void put(IndexWriter& writer, const std::string& slug);
  void put(IndexWriter& writer, const std::string& slug, std::vector<ChunkRecord> chunks);
  void remove(IndexWriter& writer, const std::string& slug);

  std::vector<RankedChunk> lexical(const std::vector<QueryTerm>& query, size_t k,
                                   const SearchFilter& filter) const;
  std::vector<RankedChunk> dense(const std::vector<float>& query, size_t k,
                                 const SearchFilter& filter) const;
  std::vector<std::string> slugs() const;
  uint32_t random(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  // Checks that totals, document frequencies and some searches of the store agree with this corpus.
  void check(Store& store);

 private:
  std::vector<ChunkRecord> make_chunks(const std::string& slug);

  std::mt19937 random_;
  std::map<std::string, std::vector<ChunkRecord>> documents_;
};

// The results of a search with slug and chunk index in place of ids.
std::vector<RankedChunk> with_slugs(Store& store, const std::vector<ScoredChunk>& found);

}  // namespace stoka::store
