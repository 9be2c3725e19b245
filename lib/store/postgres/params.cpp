#include "store/postgres/params.h"

#include <bit>
#include <concepts>

#include "store/json_columns.h"

namespace stoka::store::postgres {
namespace {

constexpr uint32_t kTextOid = 25, kBigintOid = 20, kByteaOid = 17;

template <std::integral T>
void append(std::string& out, T value) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (size_t shift = sizeof(T) * 8; shift > 0;) {
    shift -= 8;
    out += static_cast<char>((bits >> shift) & 0xff);
  }
}

// Appends the length of the value and its bytes: the format of array elements.
void append_element(std::string& out, std::string_view value) {
  append(out, static_cast<int32_t>(value.size()));
  out += value;
}

std::string array_head(uint32_t element, size_t size, bool has_null = false) {
  std::string out;
  append(out, static_cast<int32_t>(size > 0 ? 1 : 0));  // the number of dimensions of the array
  append(out, static_cast<int32_t>(has_null ? 1 : 0));
  append(out, element);
  if (size == 0) return out;
  append(out, static_cast<int32_t>(size));
  append(out, int32_t{1});  // the lower bound of the array
  return out;
}

std::string vector_bytes(std::span<const float> values) {
  std::string out;
  out.reserve(4 + values.size() * 4);
  append(out, static_cast<uint16_t>(values.size()));
  append(out, uint16_t{0});  // a field that pgvector does not use
  for (const float value : values) append(out, std::bit_cast<uint32_t>(value));
  return out;
}

template <std::unsigned_integral T>
T read(std::string_view bytes) {
  T out = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    out = static_cast<T>((out << 8) | static_cast<unsigned char>(bytes[i]));
  return out;
}

}  // namespace

Params& Params::text(std::string_view value) {
  values_.emplace_back(sanitize_text(value));
  return *this;
}

Params& Params::integer(int64_t value) {
  append(values_.emplace_back(std::in_place).value(), value);
  return *this;
}

Params& Params::real(double value) {
  append(values_.emplace_back(std::in_place).value(), std::bit_cast<uint64_t>(value));
  return *this;
}

Params& Params::boolean(bool value) {
  values_.emplace_back(std::string(1, value ? '\1' : '\0'));
  return *this;
}

Params& Params::bytes(std::string_view value) {
  values_.emplace_back(std::string(value));
  return *this;
}

Params& Params::null() {
  values_.emplace_back();
  return *this;
}

Params& Params::vector(std::span<const float> value) {
  values_.emplace_back(vector_bytes(value));
  return *this;
}

Params& Params::texts(std::span<const std::string> values) {
  std::string out = array_head(kTextOid, values.size());
  for (const std::string& value : values) append_element(out, sanitize_text(value));
  values_.emplace_back(std::move(out));
  return *this;
}

Params& Params::integers(std::span<const int64_t> values) {
  std::string out = array_head(kBigintOid, values.size());
  out.reserve(out.size() + values.size() * 12);
  for (const int64_t value : values) {
    append(out, int32_t{sizeof value});
    append(out, value);
  }
  values_.emplace_back(std::move(out));
  return *this;
}

Params& Params::blobs(std::span<const std::string> values) {
  std::string out = array_head(kByteaOid, values.size());
  for (const std::string& value : values) append_element(out, value);
  values_.emplace_back(std::move(out));
  return *this;
}

Params& Params::vectors(std::span<const std::vector<float>> values, uint32_t vector_oid) {
  bool has_null = false;
  for (const auto& value : values) has_null = has_null || value.empty();
  std::string out = array_head(vector_oid, values.size(), has_null);
  for (const auto& value : values) {
    if (value.empty()) {
      append(out, int32_t{-1});
    } else {
      append_element(out, vector_bytes(value));
    }
  }
  values_.emplace_back(std::move(out));
  return *this;
}

std::vector<float> vector_from_bytes(std::string_view bytes) {
  constexpr size_t kHead = 4;
  if (bytes.size() < kHead) return {};
  const size_t dim = read<uint16_t>(bytes);
  if (bytes.size() != kHead + dim * 4) return {};
  std::vector<float> out;
  out.reserve(dim);
  for (size_t at = kHead; at < bytes.size(); at += 4)
    out.push_back(std::bit_cast<float>(read<uint32_t>(bytes.substr(at))));
  return out;
}

}  // namespace stoka::store::postgres
