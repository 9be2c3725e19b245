// Where a server is, in any form people paste: "localhost:8000", "http://host:8000/",
// "https://host/v1/", "http://host:8000/v1/chat/completions".
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stoka::net {

enum class ApiRoot {
  plain,      // endpoints hang at the root: /embed, /info
  versioned,  // under /v1, which is added where the address has no version
};

// http and https only. A pasted endpoint is cut back to what all endpoints share; a version in the
// path stays, whatever it is ("/v2", "/v1beta/openai"), and a query string too. Whoever pastes a
// whole endpoint of a versioned server has said where it is: nothing is added to
// "https://host/api/chat/completions".
class BaseUrl {
 public:
  // Config errors say what is wrong with the address, without repeating a password in it: user and
  // password are refused, a key has settings of its own.
  static Result<BaseUrl> parse(std::string_view pasted, ApiRoot root);

  // "http://host:8000/v1/models" of "models".
  std::string endpoint(std::string_view name) const;
  // For people: "http://host:8000/v1", without the query string.
  std::string shown() const { return scheme_ + "://" + authority_ + path_; }
  // "host" or "host:8000".
  const std::string& authority() const { return authority_; }
  // "http://host:8000".
  std::string origin() const { return scheme_ + "://" + authority_; }
  // localhost, 127.0.0.0/8, ::1, and 0.0.0.0 and :: that servers print: never asked through a
  // proxy.
  bool is_loopback() const;

 private:
  std::string scheme_;
  std::string authority_;
  std::string path_;   // "" or "/v1"
  std::string query_;  // "" or "?api-version=1"
};

}  // namespace stoka::net
