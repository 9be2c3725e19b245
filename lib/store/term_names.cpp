#include "store/term_names.h"

#include <algorithm>

namespace stoka::store {

void TermNames::add(int64_t id, std::string name) {
  places_.emplace(id, names_.size());
  names_.push_back(std::move(name));
}

bool TermNames::look_up(std::span<const ChunkTerm> stored, std::vector<TermCount>& terms) {
  found_.clear();
  for (const ChunkTerm& term : stored) {
    const auto place = places_.find(term.term);
    if (place == places_.end()) return false;
    found_.emplace_back(place->second, term.count);
  }
  std::sort(found_.begin(), found_.end());
  terms.clear();
  for (const auto& [place, count] : found_) terms.push_back({names_[place], count});
  return true;
}

}  // namespace stoka::store
