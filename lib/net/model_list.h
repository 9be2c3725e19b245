// What a server lists under /v1/models.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/upstream.h"

namespace stoka::net {

// The ids, in the server's order; nothing if the body is no list.
std::optional<std::vector<std::string>> parse_models(std::string_view body);

// Asks for them. Nothing: the server keeps no list. Errors as of Upstream::call(), and its
// refusals.
Result<std::optional<std::vector<std::string>>> list_models(Upstream& upstream,
                                                            std::stop_token stop);

// For people: "a, b, c and 4 more".
std::string enumerate(std::span<const std::string> models);

// Whether a refusal says that there is no such model.
bool names_model(int status, std::string_view refusal, std::string_view model);

}  // namespace stoka::net
