// Made-up ids and documents, and what a search over them must find, worked out the slow way.
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

struct Found {
  std::string slug;
  int index = 0;
  double score = 0;
  bool operator==(const Found&) const = default;
};

// The same id for the same name of at most 16 bytes; names of one length keep their order.
std::string uuid(std::string_view name);

// A chunk whose content is its terms.
ChunkRecord make_chunk(const std::string& slug, int index, std::vector<TermCount> terms,
                       std::vector<float> embedding = {});
Document make_document(const std::string& slug);

// The documents that a store should hold.
class Corpus {
 public:
  explicit Corpus(uint32_t seed) : random_(seed) {}

  // A document with random chunks of the terms t0 … t59 (t0 in most chunks, t59 in few), each with
  // a unit vector of 4 coarse values, so that equal scores are common.
  void put(IndexWriter& writer, const std::string& slug);
  void put(IndexWriter& writer, const std::string& slug, std::vector<ChunkRecord> chunks);
  void remove(IndexWriter& writer, const std::string& slug);

  std::vector<Found> lexical(const std::vector<QueryTerm>& query, size_t k,
                             const SearchFilter& filter) const;
  std::vector<Found> dense(const std::vector<float>& query, size_t k,
                           const SearchFilter& filter) const;
  std::vector<std::string> slugs() const;
  uint32_t random(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  // Whether totals, frequencies and a number of searches agree with this corpus.
  void check(Store& store);

 private:
  std::vector<ChunkRecord> make_chunks(const std::string& slug);

  std::mt19937 random_;
  std::map<std::string, std::vector<ChunkRecord>> documents_;
};

// What a search gave, by slug and chunk index.
std::vector<Found> named(Store& store, const std::vector<ScoredChunk>& found);

}  // namespace stoka::store
