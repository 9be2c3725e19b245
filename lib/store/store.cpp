#include "store/store.h"

namespace stoka::store {

uint32_t ChunkRecord::length() const {
  uint32_t sum = 0;
  for (const TermCount& term : terms) sum += term.count;
  return sum;
}

}  // namespace stoka::store
