#include "search/bm25.h"

#include <cmath>
#include <limits>

namespace stoka::search {
namespace {

void put_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

bool take_varint(std::string_view bytes, size_t& at, uint64_t limit, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at == bytes.size()) return false;
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    const uint64_t bits = byte & 0x7f;
    if (shift == 63 && bits > 1) return false;
    value |= bits << shift;
    if (byte < 0x80) return value <= limit;
  }
  return false;
}

}  // namespace

double idf(uint64_t documents, uint64_t document_frequency) {
  const double total = static_cast<double>(documents);
  const double with = static_cast<double>(document_frequency);
  return std::log1p((total - with + 0.5) / (with + 0.5));
}

double term_weight(uint32_t tf, uint32_t length, double average_length, const Bm25Params& params) {
  const double relative = average_length > 0 ? length / average_length : 1.0;
  return tf / (tf + params.k1 * (1.0 - params.b + params.b * relative));
}

std::string encode_postings(std::span<const Posting> postings) {
  std::string out;
  out.reserve(postings.size() * 4);
  int64_t last = 0;
  for (const Posting& posting : postings) {
    put_varint(out, static_cast<uint64_t>(posting.id - last));
    put_varint(out, posting.tf);
    put_varint(out, posting.length);
    last = posting.id;
  }
  return out;
}

bool decode_postings(std::string_view bytes, std::vector<Posting>& out) {
  out.clear();
  constexpr uint64_t kMaxId = std::numeric_limits<int64_t>::max();
  constexpr uint64_t kMaxCount = std::numeric_limits<uint32_t>::max();
  uint64_t id = 0;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t delta = 0;
    uint64_t tf = 0;
    uint64_t length = 0;
    if (!take_varint(bytes, at, kMaxId - id, delta) || !take_varint(bytes, at, kMaxCount, tf) ||
        !take_varint(bytes, at, kMaxCount, length)) {
      return false;
    }
    if ((delta == 0 && !out.empty()) || tf == 0) return false;
    id += delta;
    out.push_back(
        {static_cast<int64_t>(id), static_cast<uint32_t>(tf), static_cast<uint32_t>(length)});
  }
  return true;
}

}  // namespace stoka::search
