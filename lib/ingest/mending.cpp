#include "ingest/mending.h"

#include <fmt/format.h>

#include "text/controls.h"
#include "text/utf8.h"
#include "text/windows_1252.h"

namespace stoka::ingest {
namespace {

// Text has a stray byte here and there; a tenth of them is no text.
bool is_binary(const text::Repair& repair, size_t size) {
  return repair.nul * 100 > size || repair.invalid * 10 > size;
}

bool is_utf16(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

}  // namespace

std::vector<std::string> Mending::describe() const {
  std::vector<std::string> out;
  if (western) out.push_back("converted from Windows-1252");
  if (utf16) out.push_back("converted from UTF-16");
  if (invalid > 0) out.push_back(fmt::format("{} invalid UTF-8 sequences replaced", invalid));
  if (nul > 0) out.push_back(fmt::format("{} NUL bytes removed", nul));
  if (controls > 0) out.push_back(fmt::format("{} control characters removed", controls));
  return out;
}

std::optional<std::string> decode_other(std::string_view bytes, Mending& mending) {
  if (is_utf16(bytes)) {
    text::Repair repair;
    std::string out = text::repair_utf8(bytes, &repair);
    if (is_binary(repair, bytes.size())) return std::nullopt;
    mending.utf16 = true;
    mending.nul += repair.nul;
    return out;
  }
  std::optional<std::string> out = text::from_windows_1252(bytes);
  mending.western = out.has_value();
  return out;
}

std::optional<std::string> mend(std::string_view bytes, std::string_view in_place,
                                Mending& mending) {
  text::Repair repair;
  std::string text = text::repair_utf8(bytes, &repair);
  if (is_binary(repair, bytes.size())) return std::nullopt;
  mending.invalid += repair.invalid;
  mending.nul += repair.nul;
  return text::without_controls(text, in_place, &mending.controls);
}

}  // namespace stoka::ingest
