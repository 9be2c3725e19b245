// A postgres:// URL as libpq reads it, with connection parameters that stoka adds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka::store::postgres {

class DatabaseAddress {
 public:
  // `url` is "postgres://…" or "postgresql://…". Adds connect_timeout, keepalives, tcp_user_timeout
  // and fallback_application_name unless the URL sets them. A malformed URL is a config error whose
  // message does not contain the password. Unknown parameters are found by libpq, on connecting.
  static Result<DatabaseAddress> parse(std::string_view url);

  // The URL to connect with; it contains the password.
  const std::string& reveal() const { return connection_; }
  // The address for messages, "postgres://host:port/database", without user and password.
  const std::string& describe() const { return shown_; }
  // The user; empty if the URL has none.
  const std::string& user() const { return user_; }
  // `text`, a message of libpq or the server, with "***" for each password, decoded or as typed.
  std::string redact(std::string_view text) const;

 private:
  Result<> read_authority(std::string_view authority, std::string_view path);
  std::vector<std::string> read_query(std::string_view query);  // returns the keys of the query
  void keep_secret(std::string_view typed);
  void add_parameters(const std::vector<std::string>& known);

  std::string connection_;
  std::string shown_;
  std::string user_;
  std::string hosts_, database_;      // hosts and database as typed
  std::vector<std::string> secrets_;  // passwords, decoded and as typed, longest first
};

}  // namespace stoka::store::postgres
