// Finds credentials that must never be published. The matchers are hand-written and take linear
// time, because every index run scans every chunk.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/block.h"
#include "model/document.h"

namespace stoka::ingest {

struct Secret {
  size_t begin = 0;  // where the secret begins, as a byte offset
  size_t end = 0;
  std::string kind;  // a description for people, never the secret itself: "an API key (sk-)"
};

// All secrets of a text, in order; not words that only look like one ("task-force", "sk-learn").
std::vector<Secret> find_secrets(std::string_view text);

// The kind of the first secret in a text; nullopt if there is none.
std::optional<std::string> find_secret(std::string_view text);

struct WithheldChunk {
  std::string section;
  std::string kind;  // the kind of the secret
};

// Removes every chunk that contains a secret of the document or a part of one (chunking may cut a
// long key), and renumbers the remaining chunks. `blocks` are those that the chunks were made from.
std::vector<WithheldChunk> withhold_secrets(std::vector<Chunk>& chunks,
                                            std::span<const Block> blocks);

}  // namespace stoka::ingest
