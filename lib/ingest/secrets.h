// Finds what must never be published. Hand-written and linear: it reads every chunk of every index.
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
  size_t begin = 0;  // byte offsets
  size_t end = 0;
  std::string kind;  // "an API key (sk-)", "a private key", …: for people, never the secret itself
};

// All of them, in order. Words that only resemble one ("task-force", "sk-learn") are none.
std::vector<Secret> find_secrets(std::string_view text);

// The kind of the first one.
std::optional<std::string> find_secret(std::string_view text);

struct Withheld {
  std::string section;  // of the chunk that was dropped
  std::string kind;
};

// Drops every chunk that holds a secret of the document or a part of one (a long key may be cut by
// chunking), and counts the others anew. The blocks are those the chunks were made of.
std::vector<Withheld> withhold_secrets(std::vector<Chunk>& chunks, std::span<const Block> blocks);

}  // namespace stoka::ingest
