// Parameters of a statement in PostgreSQL's binary format, which needs no quoting and keeps every
// bit of a vector. The server takes the type of a parameter from the cast of its placeholder, so
// each one has a cast: $1::text, $2::bigint, $3::float8, $4::bytea, $5::text[], $6::bigint[],
// $7::bytea[].
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::store::postgres {

class Params {
 public:
  // Adds a text, as sanitize_text() cleans it.
  Params& text(std::string_view value);
  Params& integer(int64_t value);
  Params& real(double value);
  Params& boolean(bool value);
  Params& bytes(std::string_view value);
  Params& null();
  // Adds a vector for $n::vector, in pgvector's binary format.
  Params& vector(std::span<const float> value);

  Params& texts(std::span<const std::string> values);
  Params& integers(std::span<const int64_t> values);
  Params& blobs(std::span<const std::string> values);
  // Adds vectors for $n::vector[]; an empty one becomes NULL. The type's OID varies by database.
  Params& vectors(std::span<const std::vector<float>> values, uint32_t vector_oid);

  // The parameters in order; nothing for NULL.
  const std::vector<std::optional<std::string>>& values() const { return values_; }

 private:
  std::vector<std::optional<std::string>> values_;
};

// Decodes the result of vector_send(); empty if the bytes are not a vector.
std::vector<float> vector_from_bytes(std::string_view bytes);

}  // namespace stoka::store::postgres
