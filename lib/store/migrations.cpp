#include "store/migrations.h"

#include <charconv>

namespace stoka::store {

int64_t version_of(const EmbeddedFile& file) {
  int64_t version = 0;
  std::from_chars(file.name.data(), file.name.data() + file.name.size(), version);
  return version;
}

int64_t newest_version(std::span<const EmbeddedFile> files) {
  return files.empty() ? 0 : version_of(files.back());
}

}  // namespace stoka::store
