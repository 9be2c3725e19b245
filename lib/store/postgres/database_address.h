// Where the server is: a postgres:// URL as libpq reads it, with what stoka adds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::store::postgres {

class Address {
 public:
  // "postgres://…" or "postgresql://…". Adds what is not said: connect_timeout, keepalives,
  // tcp_user_timeout, application_name. A config error for what is no such URL, without the
  // password. Parameters are libpq's to know: it refuses unknown ones when it connects.
  static Result<Address> parse(std::string_view url);

  // For the library that connects; holds the password.
  const std::string& reveal() const { return connection_; }
  // "postgres://host:port/database": for people, without user, password and options.
  const std::string& describe() const { return shown_; }
  // Empty if the URL names none.
  const std::string& user() const { return user_; }
  // A text of libpq or of the server without the password, also as it is written in the URL.
  std::string redact(std::string_view text) const;

 private:
  Result<> read_authority(std::string_view authority, std::string_view path);
  std::vector<std::string> read_query(std::string_view query);  // its keys
  void keep_secret(std::string_view typed);
  void add_parameters(const std::vector<std::string>& known);

  std::string connection_;
  std::string shown_;
  std::string user_;
  std::string hosts_, database_;      // as typed
  std::vector<std::string> secrets_;  // as they are and as typed, longest first
};

}  // namespace stoka::store::postgres
