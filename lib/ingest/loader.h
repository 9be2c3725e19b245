// Reads one source file. An index run calls walk(), load() for each file, assign_slugs() for all
// pages together, and then chunk() and withhold_secrets() for each page.
#pragma once

#include <string_view>

#include "ingest/page.h"

namespace stoka::ingest {

// Reads the file as the format that its name shows (ingest/source_format.h). Never fails: `skipped`
// says what cannot be indexed and why (unsupported, too large, binary, unreadable, empty, hidden by
// its author), `warnings` says what was repaired. `chunk_options` is ChunkOptions::describe(); it
// goes into the content hashes. Thread safe.
LoadedFile load(const SourceFile& file, std::string_view chunk_options);

// Like load(), for bytes that have been read already.
LoadedFile load_bytes(const SourceFile& file, std::string_view bytes,
                      std::string_view chunk_options);

}  // namespace stoka::ingest
