// The address of a server, in any form that people paste: "localhost:8000", "http://host:8000/",
// "https://host/v1/", "http://host:8000/v1/chat/completions".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stoka::net {

enum class ApiRoot {
  plain,      // endpoints are below the root: /embed, /info
  versioned,  // endpoints are below /v1, which is appended if the address contains no version
};

// An http or https address. The name of an endpoint at the end of the path is removed. A version in
// the path is kept, whatever it is ("/v2", "/v1beta/openai"), and so is a query string. An address
// that ends in an endpoint of a versioned API is already complete: nothing is appended to
// "https://host/api/chat/completions".
class BaseUrl {
 public:
  // Parses an address. Config errors say what is wrong with it without repeating a password in it.
  // A user or a password is an error, because keys have their own settings.
  static Result<BaseUrl> parse(std::string_view pasted, ApiRoot root);

  // The URL of an endpoint: "http://host:8000/v1/models" for "models".
  std::string endpoint(std::string_view name) const;
  // The address for messages: "http://host:8000/v1", without the query string.
  std::string display() const { return scheme_ + "://" + authority_ + path_; }
  // The host with its port: "host" or "host:8000".
  const std::string& authority() const { return authority_; }
  // The scheme, host and port: "http://host:8000".
  std::string origin() const { return scheme_ + "://" + authority_; }
  // Whether the host is this machine: localhost, 127.0.0.0/8 or ::1, or 0.0.0.0 or ::, which
  // servers print as their own address. No proxy is used for such a host.
  bool is_loopback() const;

 private:
  std::string scheme_;
  std::string authority_;
  std::string path_;   // either empty or "/v1"
  std::string query_;  // either empty or a query such as "?api-version=1"
};

}  // namespace stoka::net
