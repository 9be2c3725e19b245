// Files compiled into the binary (golden data, SQL, the page, the sample site). See
// cmake/embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace stoka {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

namespace embedded {
// Null: there is none of that name.
inline const EmbeddedFile* find(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files)
    if (file.name == name) return &file;
  return nullptr;
}

std::span<const EmbeddedFile> golden();
std::span<const EmbeddedFile> sql_sqlite();
std::span<const EmbeddedFile> sql_postgres();
std::span<const EmbeddedFile> web();
std::span<const EmbeddedFile> sample_site();
std::span<const EmbeddedFile> evals();
}  // namespace embedded

}  // namespace stoka
