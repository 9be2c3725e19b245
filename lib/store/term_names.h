// The names of the terms in an index. Chunks keep their terms by id.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/index_reader.h"
#include "store/posting_edits.h"

namespace stoka::store {

class TermNames {
 public:
  // Adds a name. Names must be added in their byte order.
  void add(int64_t id, std::string name);
  // Sets `terms` to the terms of a chunk, ordered by name. Returns false if an id is unknown.
  bool look_up(std::span<const ChunkTerm> stored, std::vector<TermCount>& terms);

 private:
  std::vector<std::string> names_;
  std::unordered_map<int64_t, size_t> places_;  // for each id the position of the name in names_
  std::vector<std::pair<size_t, uint32_t>> found_;
};

}  // namespace stoka::store
