// The smallest parts that chunks are filled with: sentences, lines of code, and parts of them where
// one alone is too long. Internal to the chunker.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/block.h"

namespace stoka::ingest {

// What stands between a piece and the one before it.
enum class Joint { none, space, line, paragraph };
std::string_view separator(Joint joint);

struct Piece {
  std::string text;
  Joint joint = Joint::paragraph;
  size_t tokens = 0;
  bool code = false;

  // What the separator adds to the estimate of a chunk.
  size_t gap() const { return joint == Joint::line || joint == Joint::paragraph ? 1 : 0; }
};

struct Paragraph {
  std::vector<Piece> pieces;  // never empty
  size_t tokens = 0;          // of all of them, with the separators between them
  bool heading = false;       // belongs to what follows
};

// No piece has more than `limit` tokens.
Paragraph cut_paragraph(const Block& block, size_t limit);

// The last words of a piece that fit into `limit` tokens; nothing if not even one does.
std::vector<Piece> tail_words(const Piece& piece, size_t limit);

}  // namespace stoka::ingest
