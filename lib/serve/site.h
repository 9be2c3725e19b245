// The dispatch of requests to the handlers of their routes, and the rate limits of clients.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "serve/client_address.h"
#include "serve/cors.h"
#include "serve/handler.h"
#include "serve/jwt.h"
#include "serve/rate_limiter.h"
#include "serve/request_body.h"
#include "serve/request_context.h"
#include "serve/response_cache.h"
#include "serve/routes.h"

namespace stoka::serve {

struct RateLimit {
  size_t requests = 0;  // how many requests are allowed; 0 for no limit
  std::chrono::seconds window{300};
};

// Rate limits by group of routes. A client has a count of its own in each group.
struct RateLimiters {
  RateLimiter chat, discover, context;
};

struct SiteOptions {
  bool bot_enabled = true;  // if false, there are no /api/stoka routes
  RateLimit chat{30, std::chrono::seconds(300)};
  // Each limit is named after the first route that it is for; the table in routes.cpp lists all.
  RateLimit discover{60, std::chrono::seconds(300)};
  RateLimit context{120, std::chrono::seconds(60)};
  NetworkSet trusted_proxies;
  Cors cors;
  std::optional<JwtVerifier> token_verifier;  // checks tokens; with nullopt no token is valid
};

// The following members are used only on the thread of the loop.
class Site final : public Handler {
 public:
  Site(ServerContext& server, SiteOptions options);

  std::shared_ptr<PendingResponse> handle(HttpRequest request, ResponseWriter& writer) override;
  HttpResponse refuse(const HttpRequest& head, int status, std::string_view why,
                      std::string_view hint) override;

  // From now on GET /readyz says that the server is not ready.
  void close();

 private:
  friend std::span<const HttpRoute> http_routes();
  using PendingPtr = std::shared_ptr<PendingResponse>;

  // The handlers of the routes.
  PendingPtr chat(HandlerArgs& args);
  PendingPtr discover(HandlerArgs& args);
  PendingPtr context(HandlerArgs& args);
  PendingPtr get_profile(HandlerArgs& args);
  PendingPtr update_profile(HandlerArgs& args);
  PendingPtr open(HandlerArgs& args);
  PendingPtr openapi(HandlerArgs& args);
  PendingPtr healthz(HandlerArgs& args);
  PendingPtr readyz(HandlerArgs& args);
  PendingPtr metrics(HandlerArgs& args);
  PendingPtr file(HandlerArgs& args);

  // Does `work` on the threads `slow`, or on `quick` if the work only reads the store a few times.
  PendingPtr start_job(HandlerArgs& args, WorkerPool& workers, WorkerResponse::Work work);
  PendingPtr refuse(HandlerArgs& args, const FieldError& wrong);
  PendingPtr refuse_token(HandlerArgs& args);
  const HttpRoute* find(const HttpRequest& request, std::string* allowed_methods) const;
  Cors::Headers cors_headers(const HttpRequest& request) const;
  std::optional<Cors::Headers> preflight(const HttpRequest& request) const;
  bool admit(const HttpRoute& route, HandlerArgs& args);
  std::optional<std::string> subject(const HttpRequest& request) const;
  HttpResponse check_readiness(std::stop_token stop) const;  // runs on a worker thread

  ServerContext& server_;
  const SiteOptions options_;
  const std::string openapi_;
  RateLimiters limiters_;
  ResponseCache ambient_lines_;  // JSON by page; all clients get the same lines
  bool closing_ = false;
  std::optional<HttpResponse> readiness_;  // the last result, which is used for one second
  std::chrono::nanoseconds readiness_time_{};
  bool checking_readiness_ = false;
};

}  // namespace stoka::serve
