// An Upstream for tests, with long deadlines unless a test sets a shorter timeout.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "net/http_client.h"
#include "net/upstream.h"
#include "support/setting_names.h"

namespace stoka::testing {

inline constexpr net::Milliseconds kTestTimeout{20000};

class TestUpstream {
 public:
  TestUpstream(const std::string& role, const std::string& url, net::ApiRoot root,
               net::Milliseconds timeout = kTestTimeout, Secret key = {})
      : upstream_(options(role, url, root, timeout, std::move(key)), client_, log_) {}

  net::Upstream& operator*() { return upstream_; }

 private:
  static net::UpstreamOptions options(const std::string& role, const std::string& url,
                                      net::ApiRoot root, net::Milliseconds timeout, Secret key) {
    auto parsed = net::BaseUrl::parse(url, root);
    REQUIRE_MESSAGE(parsed.has_value(), parsed.error().message);
    net::UpstreamOptions out{role, std::move(*parsed), std::move(key), {}};
    out.settings = setting_names(role);
    out.timeouts = {timeout, timeout, timeout, timeout, timeout};
    return out;
  }

  NullLog log_;
  net::HttpClient client_;
  net::Upstream upstream_;
};

}  // namespace stoka::testing
