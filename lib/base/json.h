// JSON as text. Reading and building JSON values is done beside the type that is read or written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stoka {

// Returns the JSON value on one line. Bytes that are not valid UTF-8 become U+FFFD.
std::string to_json_text(const nlohmann::json& value);
std::string to_json_text(const nlohmann::ordered_json& value);

}  // namespace stoka
