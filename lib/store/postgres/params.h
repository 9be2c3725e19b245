// Parameters of a statement in PostgreSQL's binary form: nothing is quoted, and vectors are not
// printed. The server takes each parameter as the type of its cast, so every placeholder has one:
// $1::text, $2::bigint, $3::float8, $4::bytea, $5::text[], $6::bigint[], $7::bytea[].
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
  // Text is stored as valid UTF-8 without NUL: anything else in it is replaced.
  Params& text(std::string_view value);
  Params& integer(int64_t value);
  Params& real(double value);
  Params& boolean(bool value);
  Params& bytes(std::string_view value);
  Params& null();
  // pgvector's own binary form: for $n::vector.
  Params& vector(std::span<const float> value);

  Params& texts(std::span<const std::string> values);
  Params& integers(std::span<const int64_t> values);
  Params& blobs(std::span<const std::string> values);
  // For $n::vector[]; the type's OID differs between databases. An empty one becomes NULL.
  Params& vectors(std::span<const std::vector<float>> values, uint32_t vector_oid);

  // Nothing for NULL.
  const std::vector<std::optional<std::string>>& values() const { return values_; }

 private:
  std::vector<std::optional<std::string>> values_;
};

// What vector_send() gives; empty if the bytes are no vector.
std::vector<float> vector_from_bytes(std::string_view bytes);

}  // namespace stoka::store::postgres
