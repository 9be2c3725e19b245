// Reads one source file. The whole of indexing up to the store is: walk(), load() each file,
// settle_slugs() over all pages, then chunk() and withhold_secrets() each page.
#pragma once

#include <string_view>

#include "ingest/page.h"

namespace stoka::ingest {

inline constexpr uint64_t kMaxFileBytes = 16ULL << 20;
inline constexpr uint64_t kMaxCorpusBytes = 512ULL << 20;

// Never fails: what cannot be read is in `skipped` with its reason (too large, binary, unreadable,
// empty, kept from readers by its author), what was mended is in `warnings`. `shape` is
// ChunkOptions::describe(); it goes into the content hashes. Thread safe.
Pages load(const SourceFile& file, std::string_view shape);

// The same for bytes that are already read.
Pages load_bytes(const SourceFile& file, std::string_view bytes, std::string_view shape);

}  // namespace stoka::ingest
