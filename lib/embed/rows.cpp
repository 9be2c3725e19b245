#include "embed/rows.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/base64.h"
#include "net/json_text.h"
#include "search/vectors.h"

namespace stoka::embed {
namespace {

using Json = nlohmann::json;
using Numbers = std::vector<double>;

constexpr size_t kMostDepth = 16;

tl::unexpected<std::string> bad_rows(std::string what) {
  return tl::unexpected<std::string>(std::move(what));
}

tl::expected<Json, std::string> parse(std::string_view body) {
  const Result<std::string> mended = net::mend_json(body, kMostDepth);
  if (!mended) return bad_rows("sent JSON that is nested too deep");
  Json json = Json::parse(*mended, nullptr, false);
  if (json.is_discarded()) return bad_rows("sent something that is not JSON");
  return json;
}

// Little-endian float32.
std::optional<Numbers> read_base64(std::string_view text) {
  const std::optional<std::string> bytes = from_base64(text);
  if (!bytes || bytes->size() % sizeof(float) != 0) return std::nullopt;
  const std::vector<float> values = search::from_bytes(*bytes, bytes->size() / sizeof(float));
  return Numbers(values.begin(), values.end());
}

std::optional<Numbers> read_numbers(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  Numbers out;
  out.reserve(json.size());
  for (const Json& value : json) {
    if (!value.is_number() && !value.is_null()) return std::nullopt;
    out.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
  }
  return out;
}

}  // namespace

tl::expected<Rows, std::string> read_bare_rows(std::string_view body) {
  const tl::expected<Json, std::string> json = parse(body);
  if (!json) return bad_rows(json.error());
  if (!json->is_array()) return bad_rows("sent no list of vectors");
  Rows out;
  for (const Json& vector : *json) {
    std::optional<Numbers> row = read_numbers(vector);
    if (!row) return bad_rows("sent a vector that is no list of numbers");
    out.push_back(std::move(*row));
  }
  return out;
}

tl::expected<Rows, std::string> read_indexed_rows(std::string_view body) {
  const tl::expected<Json, std::string> json = parse(body);
  if (!json) return bad_rows(json.error());
  const auto data = json->is_object() ? json->find("data") : json->end();
  if (data == json->end() || !data->is_array()) {
    const std::string message = json->is_object() ? net::error_message(body) : std::string();
    return bad_rows(message.empty() ? "sent no list of vectors" : "sent an error: " + message);
  }
  Rows out(data->size());
  std::vector<bool> taken(data->size());
  size_t indexes = 0;
  for (size_t i = 0; i < data->size(); ++i) {
    const Json& entry = (*data)[i];
    const auto vector = entry.is_object() ? entry.find("embedding") : entry.end();
    std::optional<Numbers> row;
    if (vector != entry.end())
      row = vector->is_string() ? read_base64(vector->get_ref<const std::string&>())
                                : read_numbers(*vector);
    if (!row) return bad_rows("sent a vector that is no list of numbers");
    size_t at = i;
    if (const auto index = entry.find("index"); index != entry.end() && !index->is_null()) {
      if (!index->is_number_unsigned() || index->get<uint64_t>() >= out.size())
        return bad_rows(fmt::format("sent index {} among {} vectors",
                                    index->is_number() ? index->dump() : "that is no number",
                                    out.size()));
      at = index->get<size_t>();
      ++indexes;
    }
    if (taken[at]) return bad_rows(fmt::format("sent index {} twice", at));
    taken[at] = true;
    out[at] = std::move(*row);
  }
  if (indexes != 0 && indexes != out.size())
    return bad_rows("sent an index with some vectors and none with others");
  return out;
}

}  // namespace stoka::embed
