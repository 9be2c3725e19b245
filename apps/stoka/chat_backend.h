// Chooses whether the local index or the stoka server that --url names answers questions.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "app.h"
#include "flags.h"
#include "pipeline/chat_backend.h"

namespace stoka::app {

// The --url flag of a command; `url` stays empty if it is not given.
inline Flag url_flag(std::optional<std::string>& url,
                     const char* help = "ask the stoka server at this address") {
  return {.names = "--url", .target = &url, .help = help, .value = "URL"};
}

// A flag of a command that needs the local index, and whether it was given.
struct LocalFlag {
  const char* name;
  bool given;
};

// Returns a usage error if --store, --record, --replay or one of these flags was given to a command
// that does not use the local index.
Result<> refuse_local_flags(const CommonFlags& common, std::initializer_list<LocalFlag> more = {});

// Opens the configured index, or prepares requests to the server at the URL without sending one.
// With a URL, an invalid address and flags that need the local index are usage errors.
Result<std::unique_ptr<pipeline::ChatBackend>> make_chat_backend(
    App& app, const std::optional<std::string>& url, std::initializer_list<LocalFlag> local = {});

}  // namespace stoka::app
