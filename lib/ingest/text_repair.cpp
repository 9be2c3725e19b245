#include "ingest/text_repair.h"

#include <fmt/format.h>

#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::ingest {
namespace {

// Limits beyond which a file is binary data. Damaged text has fewer wrong bytes: at most 10 %
// invalid sequences and 1 % NUL bytes.
bool is_binary(const text::Utf8Repair& repair, size_t size) {
  return repair.nul * 100 > size || repair.invalid * 10 > size;
}

}  // namespace

std::vector<std::string> RepairReport::describe() const {
  std::vector<std::string> out;
  if (windows_1252) out.push_back("converted from Windows-1252");
  if (utf16) out.push_back("converted from UTF-16");
  if (invalid_sequences > 0)
    out.push_back(fmt::format("{} invalid UTF-8 sequences replaced", invalid_sequences));
  if (nul_bytes > 0) out.push_back(fmt::format("{} NUL bytes removed", nul_bytes));
  if (control_characters > 0)
    out.push_back(fmt::format("{} control characters removed", control_characters));
  return out;
}

std::optional<std::string> convert_to_utf8(std::string_view bytes, RepairReport& repairs) {
  if (text::has_utf16_mark(bytes)) {
    text::Utf8Repair repair;
    std::string out = text::repair_utf8(bytes, &repair);
    if (is_binary(repair, bytes.size())) return std::nullopt;
    repairs.utf16 = true;
    repairs.nul_bytes += repair.nul;
    return out;
  }
  std::optional<std::string> out = text::windows_1252_to_utf8(bytes);
  repairs.windows_1252 = out.has_value();
  return out;
}

std::optional<std::string> repair_text(std::string_view bytes, std::string_view control_replacement,
                                       RepairReport& repairs) {
  text::Utf8Repair repair;
  std::string text = text::repair_utf8(bytes, &repair);
  if (is_binary(repair, bytes.size())) return std::nullopt;
  repairs.invalid_sequences += repair.invalid;
  repairs.nul_bytes += repair.nul;
  return text::replace_controls(text, control_replacement, &repairs.control_characters);
}

}  // namespace stoka::ingest
