// --url: a site that answers instead of the index of this machine.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "app.h"
#include "flags.h"
#include "net/client.h"
#include "serve/remote.h"

namespace stoka::app {

// Empty: nobody gave --url.
inline Flag url_flag(std::optional<std::string>& url,
                     const char* help = "ask the stoka server at this address") {
  return {.names = "--url", .target = &url, .help = help, .value = "URL"};
}

// Not movable: the remote borrows the client.
class RemoteSite {
 public:
  // A flag of the command that only an index of this machine can follow, and whether it was given.
  struct LocalFlag {
    const char* name;
    bool given;
  };

  // Asks nothing yet. A usage error for an address that is none, and for flags of local indexes.
  static Result<std::unique_ptr<RemoteSite>> make(const App& app, const std::string& url,
                                                  std::initializer_list<LocalFlag> local = {});
  RemoteSite(const RemoteSite&) = delete;

  const serve::Remote& remote() const { return *remote_; }

 private:
  RemoteSite() = default;

  net::Client client_;
  std::optional<serve::Remote> remote_;
};

// --store, --record and --replay, where no index of this machine is asked.
Result<> refuse_local_flags(const Common& common,
                            std::initializer_list<RemoteSite::LocalFlag> more = {});

}  // namespace stoka::app
