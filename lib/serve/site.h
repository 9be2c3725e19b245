// The routes: which request gets which answer, and who may ask how often.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "serve/client_address.h"
#include "serve/cors.h"
#include "serve/handler.h"
#include "serve/house.h"
#include "serve/jwt.h"
#include "serve/rate_limit.h"

namespace stoka::serve {

struct Limit {
  size_t requests = 0;  // 0: no limit
  std::chrono::seconds window{300};
};

struct SiteOptions {
  bool bot_enabled = true;  // false: there are no /api/stoka routes
  Limit chat{30, std::chrono::seconds(300)};
  Limit discover{60, std::chrono::seconds(300)};  // and profile
  Limit context{120, std::chrono::seconds(60)};   // and open
  Networks trusted_proxies;
  Cors cors;
  std::optional<JwtVerifier> tokens;  // nothing: no token is valid
};

// What opening a document that was indexed without an address is refused with.
inline constexpr const char* kNoAddress = "that page has no address";

// On the thread of the loop.
class Site final : public Handler {
 public:
  Site(House& house, SiteOptions options);
  ~Site() override;

  std::shared_ptr<Pending> handle(Request request, Client& client) override;
  Response refuse(const Request& head, int status, std::string_view why,
                  std::string_view hint) override;

  // From now on it is not ready.
  void close();

  // What can be asked: "POST /api/stoka/chat", …
  static std::vector<std::pair<std::string_view, std::string_view>> routes();

 private:
  struct Row;
  struct Ask;
  struct Limiter;
  using Answer = std::shared_ptr<Pending>;
  static const Row kRows[];

  Answer chat(Ask& ask);
  Answer discover(Ask& ask);
  Answer context(Ask& ask);
  Answer show_profile(Ask& ask);
  Answer set_profile(Ask& ask);
  Answer open(Ask& ask);
  Answer unauthorized(Ask& ask);
  Answer openapi(Ask& ask);
  Answer healthz(Ask& ask);
  Answer readyz(Ask& ask);
  Answer metrics(Ask& ask);
  Answer file(Ask& ask);

  const Row* find(const Request& request, std::string* allowed) const;
  Cors::Headers cors_headers(const Request& request) const;
  std::optional<Cors::Headers> preflight(const Request& request) const;
  bool admitted(const Row& row, Ask& ask);
  std::string subject(const Request& request, bool* refused) const;
  Response readiness(std::stop_token stop) const;  // a worker's

  House& house_;
  const SiteOptions options_;
  const std::string openapi_;
  std::unique_ptr<Limiter> limiter_;
  bool closing_ = false;
  std::optional<Response> readiness_;  // the last one, good for a second
  std::chrono::nanoseconds ready_at_{};
  bool asking_readiness_ = false;
};

}  // namespace stoka::serve
