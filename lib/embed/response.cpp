#include "embed/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/base64.h"
#include "embed/lsa.h"
#include "net/json_text.h"
#include "search/vectors.h"

namespace stoka::embed {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxJsonDepth = 16;

tl::unexpected<std::string> parse_failure(std::string message) {
  return tl::unexpected<std::string>(std::move(message));
}

tl::expected<Json, std::string> parse_json(std::string_view body) {
  const Result<std::string> mended = net::repair_json(body, kMaxJsonDepth);
  if (!mended) return parse_failure("sent JSON that is nested too deep");
  Json json = Json::parse(*mended, nullptr, false);
  if (json.is_discarded()) return parse_failure("sent something that is not JSON");
  return json;
}

std::optional<std::vector<double>> read_base64_floats(std::string_view text) {
  const std::optional<std::string> bytes = from_base64(text);
  if (!bytes || bytes->size() % sizeof(float) != 0) return std::nullopt;
  const std::vector<float> values = search::decode_vector(*bytes, bytes->size() / sizeof(float));
  return std::vector<double>(values.begin(), values.end());
}

std::optional<std::vector<double>> read_numbers(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  std::vector<double> out;
  out.reserve(json.size());
  for (const Json& value : json) {
    if (!value.is_number() && !value.is_null()) return std::nullopt;
    out.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  }
  return out;
}

}  // namespace

tl::expected<RawVectors, std::string> parse_tei_vectors(std::string_view body) {
  const tl::expected<Json, std::string> json = parse_json(body);
  if (!json) return parse_failure(json.error());
  if (!json->is_array()) return parse_failure("sent no list of vectors");
  RawVectors out;
  for (const Json& vector : *json) {
    std::optional<std::vector<double>> row = read_numbers(vector);
    if (!row) return parse_failure("sent a vector that is not a list of numbers");
    out.push_back(std::move(*row));
  }
  return out;
}

tl::expected<RawVectors, std::string> parse_openai_vectors(std::string_view body) {
  const tl::expected<Json, std::string> json = parse_json(body);
  if (!json) return parse_failure(json.error());
  const auto data = json->is_object() ? json->find("data") : json->end();
  if (data == json->end() || !data->is_array()) {
    const std::string message = json->is_object() ? net::error_message(body) : std::string();
    return parse_failure(message.empty() ? "sent no list of vectors" : "sent an error: " + message);
  }
  RawVectors out(data->size());
  std::vector<bool> seen(data->size());
  size_t with_index = 0;
  for (size_t i = 0; i < data->size(); ++i) {
    const Json& entry = (*data)[i];
    const auto vector = entry.is_object() ? entry.find("embedding") : entry.end();
    std::optional<std::vector<double>> row;
    if (vector != entry.end())
      row = vector->is_string() ? read_base64_floats(vector->get_ref<const std::string&>())
                                : read_numbers(*vector);
    if (!row) return parse_failure("sent a vector that is not a list of numbers");
    size_t at = i;
    if (const auto index = entry.find("index"); index != entry.end() && !index->is_null()) {
      if (!index->is_number_unsigned() || index->get<uint64_t>() >= out.size())
        return parse_failure(index->is_number() ? fmt::format("sent index {} for {} vectors",
                                                              index->dump(), out.size())
                                                : "sent an index that is not a number");
      at = index->get<size_t>();
      ++with_index;
    }
    if (seen[at]) return parse_failure(fmt::format("sent index {} twice", at));
    seen[at] = true;
    out[at] = std::move(*row);
  }
  if (with_index != 0 && with_index != out.size())
    return parse_failure("sent an index with some of the vectors only");
  return out;
}

tl::expected<std::vector<Vector>, InvalidVectors> validate_vectors(const RawVectors& vectors,
                                                                   size_t texts, int dim) {
  const auto invalid = [](std::string message, bool is_caused_by_text = false) {
    return tl::unexpected<InvalidVectors>({std::move(message), is_caused_by_text});
  };
  if (vectors.size() != texts)
    return invalid(fmt::format("sent {} vectors for {} texts", vectors.size(), texts));
  const size_t expected =
      dim > 0 || vectors.empty() ? static_cast<size_t>(dim) : vectors.front().size();
  for (const std::vector<double>& vector : vectors) {
    if (vector.empty()) return invalid("sent a vector without numbers");
    if (vector.size() != expected)
      return invalid(fmt::format("sent a vector of dimension {} where {} was expected",
                                 vector.size(), expected));
  }
  std::vector<Vector> out;
  for (const std::vector<double>& vector : vectors) {
    out.push_back(normalized(vector));
    if (!out.back().empty()) continue;
    const bool is_finite = std::all_of(vector.begin(), vector.end(),
                                       [](double value) { return std::isfinite(value); });
    return invalid(is_finite ? "sent a vector of zeros" : "sent a vector with null or NaN in it",
                   true);
  }
  return out;
}

}  // namespace stoka::embed
