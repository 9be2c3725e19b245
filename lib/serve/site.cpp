#include "serve/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/embedded.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/url.h"
#include "pipeline/discover.h"
#include "pipeline/profile.h"
#include "serve/chat_stream.h"
#include "serve/http.h"
#include "serve/openapi.h"

namespace stoka::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxPagePathBytes = 2048;
// The Content-Security-Policy of the page: everything is loaded from this server, also all scripts.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

std::chrono::nanoseconds monotonic() { return std::chrono::steady_clock::now().time_since_epoch(); }

HttpResponse json_response(std::string body, int status = 200) {
  HttpResponse out;
  out.status = status;
  out.body = std::move(body);
  out.headers.emplace_back("Cache-Control", "no-store");
  if (status == 503) out.headers.emplace_back("Retry-After", "5");
  return out;
}

std::string_view media_type(std::string_view header) {
  return header.substr(0, std::min(header.find(';'), header.size()));
}

RateLimiter make_limiter(const RateLimit& limit) { return {limit.requests, limit.window}; }

}  // namespace

struct HandlerArgs {
  HttpRequest& request;
  ResponseWriter& writer;
  std::unique_ptr<RequestContext> context;
};

Site::Site(ServerContext& server, SiteOptions options)
    : server_(server),
      options_(std::move(options)),
      openapi_(openapi_json(options_.bot_enabled, STOKA_VERSION)),
      limiters_{make_limiter(options_.chat), make_limiter(options_.discover),
                make_limiter(options_.context)} {}

const HttpRoute* Site::find(const HttpRequest& request, std::string* allowed_methods) const {
  for (const HttpRoute& route : http_routes()) {
    if (route.path != request.path) continue;
    if (route.needs_bot && route.path.starts_with("/api/") && !options_.bot_enabled) continue;
    const bool head = request.method == "HEAD" && route.method == "GET";
    if (head || route.method == request.method) return &route;
    *allowed_methods += (allowed_methods->empty() ? "" : ", ") + std::string(route.method);
    if (route.method == "GET") *allowed_methods += ", HEAD";
  }
  return nullptr;
}

// Returns the CORS headers of a response, except for the response to a preflight request.
Cors::Headers Site::cors_headers(const HttpRequest& request) const {
  if (!request.path.starts_with("/api/")) return {};
  return options_.cors.headers(request.header("origin"));
}

// Returns the response to a preflight request; nullopt for others, and for one that is not allowed.
std::optional<Cors::Headers> Site::preflight(const HttpRequest& request) const {
  if (request.method != "OPTIONS" || !request.path.starts_with("/api/")) return std::nullopt;
  return options_.cors.preflight(request.header("origin"),
                                 request.header("access-control-request-method"),
                                 request.header("access-control-request-headers"));
}

HttpResponse Site::refuse(const HttpRequest& head, int status, std::string_view why,
                          std::string_view hint) {
  server_.metrics.requests("other", status).add();
  AccessLogEntry entry;
  entry.route = "other";
  entry.status = status;
  entry.detail = why;
  server_.log.log_request(entry);
  HttpResponse out;
  out.status = status;
  out.close = true;
  out.content_type = "application/problem+json";
  out.body =
      problem_details_json(status, Error(ErrorKind::usage, std::string(why), std::string(hint)), {},
                           server_.engine.parts().ids.uuid());
  for (auto& header : cors_headers(head)) out.headers.push_back(std::move(header));
  return out;
}

std::shared_ptr<PendingResponse> Site::handle(HttpRequest request, ResponseWriter& writer) {
  std::string allowed_methods;
  const HttpRoute* const route = find(request, &allowed_methods);
  const auto granted = allowed_methods.empty() ? std::nullopt : preflight(request);
  HandlerArgs args{request, writer,
                   std::make_unique<RequestContext>(
                       server_, writer, request, route ? route->path : "other",
                       server_.engine.parts().ids, granted ? *granted : cors_headers(request))};
  if (route != nullptr) return admit(*route, args) ? (this->*route->handler)(args) : nullptr;

  if (request.method == "OPTIONS" && !allowed_methods.empty()) {
    HttpResponse out{.status = 204, .content_type = {}};
    if (!granted) out.headers.emplace_back("Allow", allowed_methods + ", OPTIONS");
    args.context->respond(std::move(out));
  } else if (!allowed_methods.empty()) {
    args.context->add_header("Allow", allowed_methods + ", OPTIONS");
    args.context->fail(
        {ErrorKind::usage, fmt::format("{} allows only {}", request.path, allowed_methods)}, {},
        405);
  } else {
    args.context->fail({ErrorKind::not_found, "there is nothing here", "see /openapi.json"});
  }
  return nullptr;
}

// Checks rate limit and content type before the body is parsed. Returns false if the request was
// refused; the response is then sent already.
bool Site::admit(const HttpRoute& route, HandlerArgs& args) {
  if (route.limit != nullptr) {
    const auto forwarded = args.request.header_values("x-forwarded-for");
    const IpAddress address =
        client_address(args.writer.peer(), forwarded, options_.trusted_proxies);
    RateLimiter& limiter = limiters_.*route.limit;
    const std::string client = rate_key(address);
    const auto now = monotonic();
    const auto wait = limiter.admit(client, now);
    if (limiter.requests() > 0) {
      args.context->add_header("RateLimit-Limit", std::to_string(limiter.requests()));
      args.context->add_header("RateLimit-Remaining",
                               std::to_string(limiter.remaining(client, now)));
    }
    if (wait) {
      server_.metrics.rate_limited(route.path).add();
      args.context->add_header("Retry-After", std::to_string(wait->count()));
      args.context->fail({ErrorKind::busy, "too many requests from this address",
                          fmt::format("try again in {} s", wait->count())},
                         {}, 429);
      return false;
    }
  }
  if (route.method != "POST") return true;
  if (to_lower(trimmed(media_type(args.request.header("content-type")))) == "application/json")
    return true;
  args.context->fail({ErrorKind::usage, "the body is not declared as JSON",
                      "send the header Content-Type: application/json"},
                     {}, 415);
  return false;
}

Site::PendingPtr Site::refuse(HandlerArgs& args, const FieldError& wrong) {
  args.context->fail(wrong.error, wrong.field);
  return nullptr;
}

// Starts a job on a worker thread that makes the response.
Site::PendingPtr Site::start_job(HandlerArgs& args, WorkerPool& workers,
                                 WorkerResponse::Work work) {
  auto job = std::make_shared<WorkerResponse>(server_, std::move(args.context));
  job->start(workers, std::move(work));
  return job;
}

// The subject of the token; empty if there is no token, nullopt if the token is not valid.
std::optional<std::string> Site::subject(const HttpRequest& request) const {
  const std::string_view header = request.header("authorization");
  constexpr std::string_view kBearer = "bearer ";
  if (to_lower(header.substr(0, kBearer.size())) != kBearer) return "";
  if (!options_.token_verifier) return std::nullopt;
  auto subject = options_.token_verifier->verify(trimmed(header.substr(kBearer.size())),
                                                 server_.engine.parts().clock.now());
  return subject ? std::optional(std::move(*subject)) : std::nullopt;
}

Site::PendingPtr Site::chat(HandlerArgs& args) {
  auto request = parse_chat_request(args.request.body);
  if (!request) return refuse(args, request.error());
  request->subject = subject(args.request).value_or("");  // an invalid token counts as no token
  args.context->set_query(request->query);
  auto stream = std::make_shared<ChatStream>(server_, args.writer, std::move(args.context),
                                             std::move(*request));
  stream->start();
  return stream;
}

Site::PendingPtr Site::discover(HandlerArgs& args) {
  auto request = parse_discover_request(args.request.body);
  if (!request) return refuse(args, request.error());
  return start_job(
      args, server_.slow,
      [this, request = std::move(*request)](std::stop_token stop) -> Result<HttpResponse> {
        STOKA_ASSIGN(const pipeline::Recommendations found,
                     pipeline::discover(server_.engine, request, stop));
        return json_response(pipeline::to_json(found));
      });
}

Site::PendingPtr Site::context(HandlerArgs& args) {
  std::string page = args.request.parameter("page");
  if (page.empty() || page.size() > kMaxPagePathBytes) {
    return refuse(
        args, {{ErrorKind::usage, fmt::format("page must be 1 to {} bytes long", kMaxPagePathBytes),
                "e.g. /api/stoka/context?page=/"},
               "page"});
  }
  if (const std::string* body = ambient_lines_.find(page, monotonic())) {
    args.context->respond(json_response(*body));
    return nullptr;
  }
  return start_job(
      args, server_.slow,
      [this, page = std::move(page)](std::stop_token stop) -> Result<HttpResponse> {
        STOKA_ASSIGN(const pipeline::Ambient found, pipeline::ambient(server_.engine, page, stop));
        std::string body = pipeline::to_json(found);
        server_.loop.post([this, page, body] { ambient_lines_.put(page, body, monotonic()); });
        return json_response(std::move(body));
      });
}

Site::PendingPtr Site::get_profile(HandlerArgs& args) {
  auto subject = this->subject(args.request);
  if (!subject) return refuse_token(args);
  const std::string id = to_lower(args.request.parameter("visitor_id"));
  if (!is_uuid(id) && (subject->empty() || !id.empty()))
    return refuse(args,
                  {{ErrorKind::usage, "visitor_id is not a UUID", "take it from a ready event"},
                   "visitor_id"});
  return start_job(args, server_.quick,
                   [this, caller = Caller{id, std::move(*subject), true}](
                       std::stop_token) -> Result<HttpResponse> {
                     STOKA_ASSIGN(const Visitor visitor,
                                  pipeline::profile(server_.engine.parts().sessions, caller));
                     return json_response(pipeline::to_json(visitor));
                   });
}

Site::PendingPtr Site::update_profile(HandlerArgs& args) {
  auto subject = this->subject(args.request);
  if (!subject) return refuse_token(args);
  auto update = parse_profile_update(args.request.body);
  if (!update) return refuse(args, update.error());
  const Caller caller{to_lower(update->visitor_id), std::move(*subject), true};
  return start_job(
      args, server_.quick,
      [this, caller, update = std::move(*update)](std::stop_token) -> Result<HttpResponse> {
        const pipeline::Engine::Parts& parts = server_.engine.parts();
        STOKA_ASSIGN(const Visitor visitor,
                     pipeline::update_profile(parts.index, parts.sessions, caller, update.interests,
                                              update.read, parts.clock.now()));
        return json_response(pipeline::to_json(visitor));
      });
}

Site::PendingPtr Site::refuse_token(HandlerArgs& args) {
  args.context->add_header("WWW-Authenticate", "Bearer");
  args.context->fail({ErrorKind::usage, "the token is not valid", "send a valid token, or none"},
                     {}, 401);
  return nullptr;
}

Site::PendingPtr Site::open(HandlerArgs& args) {
  return start_job(
      args, server_.quick,
      [this, slug = args.request.parameter("slug")](std::stop_token) -> Result<HttpResponse> {
        STOKA_ASSIGN(const auto catalog, server_.engine.catalog());
        const Document* const document = catalog->find(slug);
        if (document == nullptr)
          return fail(ErrorKind::not_found, "there is no page with that slug");
        std::string url = safe_link(document->url, server_.engine.settings().site_url);
        if (url.empty()) return fail(ErrorKind::not_found, pipeline::kNoAddress);
        HttpResponse out{.status = 302, .content_type = {}};
        out.headers.emplace_back("Location", std::move(url));
        out.headers.emplace_back("Cache-Control", "no-store");
        return out;
      });
}

Site::PendingPtr Site::openapi(HandlerArgs& args) {
  args.context->respond(json_response(openapi_));
  return nullptr;
}

Site::PendingPtr Site::healthz(HandlerArgs& args) {
  args.context->respond(json_response(R"({"status":"ok"})"));
  return nullptr;
}

// Only one readiness check runs at a time, and its result is used for one second.
Site::PendingPtr Site::readyz(HandlerArgs& args) {
  const bool fresh = monotonic() - readiness_time_ < std::chrono::seconds(1);
  if (readiness_ && (fresh || checking_readiness_ || closing_)) {
    args.context->respond(*readiness_);
    return nullptr;
  }
  auto job = std::make_shared<WorkerResponse>(server_, std::move(args.context));
  checking_readiness_ =
      job->start(server_.slow, [this](std::stop_token stop) -> Result<HttpResponse> {
        HttpResponse out = check_readiness(stop);
        server_.loop.post([this, out] {
          checking_readiness_ = false;
          if (closing_) return;
          readiness_ = out;
          readiness_time_ = monotonic();
        });
        return out;
      });
  return job;
}

HttpResponse Site::check_readiness(std::stop_token stop) const {
  OrderedJson checks = OrderedJson::array();
  bool ready = true;
  const auto check = [&](const char* name, const Result<>& result) {
    ready = ready && result.has_value();
    checks.push_back({{"name", name},
                      {"ok", result.has_value()},
                      {"detail", result ? "" : result.error().message}});
  };
  const auto stats = server_.engine.parts().index.stats();
  check("store", stats ? Result<>() : Result<>(fail(stats.error())));
  if (stats) check("index", server_.engine.check_index(stop));
  const OrderedJson body = {{"status", ready ? "ready" : "not ready"},
                            {"checks", std::move(checks)}};
  return json_response(to_json_text(body), ready ? 200 : 503);
}

void Site::close() {
  closing_ = true;
  readiness_ = json_response(
      R"({"status":"not ready","checks":[{"name":"server","ok":false,"detail":"shutting down"}]})",
      503);
}

Site::PendingPtr Site::metrics(HandlerArgs& args) {
  return start_job(args, server_.quick, [this](std::stop_token) -> Result<HttpResponse> {
    HttpResponse out = json_response(server_.metrics.text());
    out.content_type = kMetricsType;
    return out;
  });
}

Site::PendingPtr Site::file(HandlerArgs& args) {
  const bool page = args.request.path == "/";
  const EmbeddedFile* const file =
      embedded::find(embedded::web(), page ? "index.html" : "stoka-terminal.js");
  if (file == nullptr || !options_.bot_enabled) {
    args.context->fail({ErrorKind::not_found, "there is nothing here", "see /openapi.json"});
    return nullptr;
  }
  HttpResponse out;
  const std::string tag = fmt::format("\"{}\"", content_hash(file->text));
  out.content_type = page ? "text/html; charset=utf-8" : "text/javascript; charset=utf-8";
  out.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
  // Any other site may load the script with the custom element.
  if (page)
    out.headers.emplace_back("Content-Security-Policy", kPolicy);
  else
    out.headers.emplace_back("Access-Control-Allow-Origin", "*");
  if (args.request.header("if-none-match") == tag)
    out.status = 304;
  else
    out.body = file->text;
  args.context->respond(std::move(out));
  return nullptr;
}

}  // namespace stoka::serve
