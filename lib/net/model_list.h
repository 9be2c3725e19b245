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

// The same of an answer to GET models. Nothing: the server keeps no list. Errors: its refusals.
Result<std::optional<std::vector<std::string>>> read_models(const Upstream& upstream,
                                                            const Answer& answer);

// Asks for them. Errors as of Upstream::call() and read_models().
Result<std::optional<std::vector<std::string>>> list_models(Upstream& upstream,
                                                            std::stop_token stop,
                                                            Milliseconds total = {});

// For people: "a, b, c and 4 more".
std::string enumerate(std::span<const std::string> models);

// Whether what a refusal says, not what it repeats, is that there is no such model.
bool names_model(int status, std::string_view refusal, std::string_view model);

// Upstream::refusal(); where it says that there is no such model, and the server lists others,
// instead a config error with those. `total` is of asking for the list.
Error model_refusal(Upstream& upstream, const Answer& answer, std::string_view model,
                    std::stop_token stop, Milliseconds total = {});

}  // namespace stoka::net
