// Files that are compiled into the binary: golden data, SQL, web pages, the sample site and its
// evaluation cases. cmake/embed.cmake generates the functions that return them.
#pragma once

#include <span>
#include <string_view>

namespace stoka {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

namespace embedded {
// Returns the embedded file of that name, or null if there is none.
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
