// The models that a server lists under /v1/models.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/upstream.h"

namespace stoka::net {

// The ids of models in the server's order; nothing if the body is not a list of models.
std::optional<std::vector<std::string>> parse_models(std::string_view body);

// The ids in the response to GET models; nothing if the server has no such endpoint. Any other
// error status is an error, as of Upstream::status_error().
Result<std::optional<std::vector<std::string>>> read_models(const Upstream& upstream,
                                                            const HttpResponse& answer);

// Requests the list. Errors are those of Upstream::call() and read_models().
Result<std::optional<std::vector<std::string>>> list_models(Upstream& upstream,
                                                            std::stop_token stop,
                                                            Milliseconds total = {});

// A list for messages: "a, b, c and 4 more".
std::string join_models(std::span<const std::string> models);

// Whether an error response says that the model does not exist. Only the server's own message
// counts, not a copy of the request in the body.
bool is_unknown_model(int status, std::string_view refusal, std::string_view model);

// The error of Upstream::status_error(). If the response says that the model does not exist and the
// server lists others, it is a config error that names those. `total` limits the request for the
// list.
Error model_error(Upstream& upstream, const HttpResponse& answer, std::string_view model,
                  std::stop_token stop, Milliseconds total = {});

}  // namespace stoka::net
