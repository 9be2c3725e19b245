// Bytes of a source as text that parsers can take.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::ingest {

// What was done to them, over all parts of a file.
struct Mending {
  bool western = false;  // was Windows-1252
  bool utf16 = false;
  size_t invalid = 0;   // sequences replaced
  size_t nul = 0;       // bytes removed
  size_t controls = 0;  // characters removed

  std::vector<std::string> describe() const;  // one line each, for people
};

// A whole file in an encoding other than UTF-8 as UTF-8; nothing if it is UTF-8, damaged or not.
std::optional<std::string> decode_other(std::string_view bytes, Mending& mending);

// Valid UTF-8 with LF line ends, without NUL, BOM and controls, which become `in_place`; nothing if
// the bytes are no text.
std::optional<std::string> mend(std::string_view bytes, std::string_view in_place,
                                Mending& mending);

}  // namespace stoka::ingest
