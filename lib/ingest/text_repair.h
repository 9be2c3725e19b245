// Makes valid, clean UTF-8 of the bytes of a source file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::ingest {

// What the repair of a file has changed, summed over all parts of the file.
struct RepairReport {
  bool windows_1252 = false;      // the file was converted from Windows-1252
  bool utf16 = false;             // the file was converted from UTF-16
  size_t invalid_sequences = 0;   // invalid sequences that were replaced by U+FFFD
  size_t nul_bytes = 0;           // NUL bytes that were removed
  size_t control_characters = 0;  // control characters that were removed or replaced

  std::vector<std::string> describe() const;  // one line for each kind of change, for people
};

// Converts a whole file from UTF-16 or Windows-1252 to UTF-8. Returns nothing if the file is in
// UTF-8, damaged or not.
std::optional<std::string> convert_to_utf8(std::string_view bytes, RepairReport& repairs);

// Returns valid UTF-8 with LF line ends, without NUL bytes and without a byte order mark. Each
// control character becomes `control_replacement`. Returns nothing if the bytes are binary data.
std::optional<std::string> repair_text(std::string_view bytes, std::string_view control_replacement,
                                       RepairReport& repairs);

}  // namespace stoka::ingest
