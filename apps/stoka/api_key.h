#pragma once

#include <string>

#include "base/config.h"
#include "base/result.h"
#include "base/secret.h"

namespace stoka::app {

struct ApiKey {
  Secret secret;        // empty: none is set
  std::string setting;  // that gave it
};

// The key of a server by ROLE.api_key, ROLE.api_key_file or ROLE.api_key_command. A config error
// for two of them, an unreadable file, a command that fails, or a key that is no header value. The
// key is in none of the errors.
Result<ApiKey> read_api_key(const Config& config, const std::string& role);

}  // namespace stoka::app
