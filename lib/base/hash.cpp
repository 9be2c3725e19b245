#include "base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace stoka {

std::string content_hash(std::string_view bytes) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string uuid_from_hash(std::string_view bytes) {
  std::string id = content_hash(bytes);
  id[12] = '8';
  id[16] = "89ab"[id[16] & 3];
  for (const size_t dash : {8U, 13U, 18U, 23U}) id.insert(dash, 1, '-');
  return id;
}

}  // namespace stoka
