#include "base/json.h"

#include <nlohmann/json.hpp>

namespace stoka {
namespace {

template <class Json>
std::string on_one_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json_text(const nlohmann::json& value) { return on_one_line(value); }
std::string to_json_text(const nlohmann::ordered_json& value) { return on_one_line(value); }

}  // namespace stoka
