// A stoka server that answers instead of the local index (--url).
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "app.h"
#include "flags.h"
#include "net/http_client.h"
#include "serve/site_client.h"

namespace stoka::app {

// The --url flag of a command; `url` stays empty if it is not given.
inline Flag url_flag(std::optional<std::string>& url,
                     const char* help = "ask the stoka server at this address") {
  return {.names = "--url", .target = &url, .help = help, .value = "URL"};
}

// Not movable, because the remote refers to the client.
class RemoteSite {
 public:
  // A flag of the command that needs a local index, and whether it was given.
  struct LocalFlag {
    const char* name;
    bool given;
  };

  // Sends no request. A usage error for an invalid address and for flags that need a local index.
  static Result<std::unique_ptr<RemoteSite>> make(const App& app, const std::string& url,
                                                  std::initializer_list<LocalFlag> local = {});
  RemoteSite(const RemoteSite&) = delete;

  const serve::SiteClient& remote() const { return *remote_; }

 private:
  RemoteSite() = default;

  net::HttpClient client_;
  std::optional<serve::SiteClient> remote_;
};

// Returns a usage error for --store, --record, --replay and the given flags, for a command that
// does not use the local index.
Result<> refuse_local_flags(const CommonFlags& common,
                            std::initializer_list<RemoteSite::LocalFlag> more = {});

}  // namespace stoka::app
