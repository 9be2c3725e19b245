#include "serve/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/embedded.h"
#include "base/hash.h"
#include "base/url.h"
#include "pipeline/discover.h"
#include "pipeline/profile.h"
#include "serve/chat_stream.h"
#include "serve/http.h"
#include "serve/openapi.h"
#include "serve/request_body.h"
#include "serve/ttl_cache.h"

namespace stoka::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxPagePathBytes = 2048;
// The page loads everything from this server, and runs no other script than its own.
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

const EmbeddedFile* web_file(std::string_view name) {
  return embedded::find(embedded::web(), name);
}

}  // namespace

// The rate limits, and the ambient lines, which are the same for all clients.
struct Site::ClientState {
  explicit ClientState(const SiteOptions& options)
      : chat(options.chat.requests, options.chat.window),
        discover(options.discover.requests, options.discover.window),
        context(options.context.requests, options.context.window) {}
  RateLimiter chat, discover, context;
  TtlCache ambient_lines;  // JSON by page
};

struct Site::Endpoint {
  std::string_view method;
  std::string_view path;
  PendingPtr (Site::*handler)(HandlerArgs& args);
  RateLimiter ClientState::*limit = nullptr;
  bool is_bot_route() const { return path.starts_with("/api/"); }
};

struct Site::HandlerArgs {
  HttpRequest& request;
  ResponseWriter& writer;
  std::unique_ptr<RequestContext> context;
};

const Site::Endpoint Site::kEndpoints[] = {
    {"POST", "/api/stoka/chat", &Site::chat, &ClientState::chat},
    {"POST", "/api/stoka/discover", &Site::discover, &ClientState::discover},
    {"GET", "/api/stoka/context", &Site::context, &ClientState::context},
    {"GET", "/api/stoka/profile", &Site::get_profile, &ClientState::discover},
    {"POST", "/api/stoka/profile", &Site::update_profile, &ClientState::discover},
    {"GET", "/api/stoka/open", &Site::open, &ClientState::context},
    {"GET", "/openapi.json", &Site::openapi},
    {"GET", "/healthz", &Site::healthz},
    {"GET", "/readyz", &Site::readyz},
    {"GET", "/metrics", &Site::metrics},
    {"GET", "/", &Site::file},
    {"GET", "/stoka-terminal.js", &Site::file},
};

Site::Site(ServerContext& server, SiteOptions options)
    : server_(server),
      options_(std::move(options)),
      openapi_(openapi_json(options_.bot_enabled, STOKA_VERSION)),
      clients_(std::make_unique<ClientState>(options_)) {}

Site::~Site() = default;

std::vector<std::pair<std::string_view, std::string_view>> Site::routes() {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  for (const Endpoint& endpoint : kEndpoints) out.emplace_back(endpoint.method, endpoint.path);
  return out;
}

const Site::Endpoint* Site::find(const HttpRequest& request, std::string* allowed_methods) const {
  for (const Endpoint& endpoint : kEndpoints) {
    if (endpoint.path != request.path || (endpoint.is_bot_route() && !options_.bot_enabled))
      continue;
    const bool head = request.method == "HEAD" && endpoint.method == "GET";
    if (head || endpoint.method == request.method) return &endpoint;
    *allowed_methods += (allowed_methods->empty() ? "" : ", ") + std::string(endpoint.method);
    if (endpoint.method == "GET") *allowed_methods += ", HEAD";
  }
  return nullptr;
}

// The CORS headers of every response except that to a preflight request.
Cors::Headers Site::cors_headers(const HttpRequest& request) const {
  if (!request.path.starts_with("/api/")) return {};
  return options_.cors.headers(request.header("origin"));
}

// Nullopt if the request is not a preflight request, or is not allowed.
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
  const Endpoint* const endpoint = find(request, &allowed_methods);
  const auto granted = allowed_methods.empty() ? std::nullopt : preflight(request);
  HandlerArgs args{request, writer,
                   std::make_unique<RequestContext>(
                       server_, writer, request, endpoint ? endpoint->path : "other",
                       server_.engine.parts().ids, granted ? *granted : cors_headers(request))};
  if (endpoint != nullptr)
    return admit(*endpoint, args) ? (this->*endpoint->handler)(args) : nullptr;

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

// Checks the rate limit and the content type before the body is parsed. False: it has responded.
bool Site::admit(const Endpoint& endpoint, HandlerArgs& args) {
  if (endpoint.limit != nullptr) {
    const auto forwarded = args.request.header_values("x-forwarded-for");
    const IpAddress address =
        client_address(args.writer.peer(), forwarded, options_.trusted_proxies);
    RateLimiter& limit = (*clients_).*endpoint.limit;
    const std::string client = rate_key(address);
    const auto now = monotonic();
    const auto wait = limit.admit(client, now);
    if (limit.requests() > 0) {
      args.context->add_header("RateLimit-Limit", std::to_string(limit.requests()));
      args.context->add_header("RateLimit-Remaining", std::to_string(limit.remaining(client, now)));
    }
    if (wait) {
      server_.metrics.rate_limited(endpoint.path).add();
      args.context->add_header("Retry-After", std::to_string(wait->count()));
      args.context->fail({ErrorKind::busy, "too many requests from this address",
                          fmt::format("try again in {} s", wait->count())},
                         {}, 429);
      return false;
    }
  }
  if (endpoint.method != "POST") return true;
  if (to_lower(trimmed(media_type(args.request.header("content-type")))) == "application/json")
    return true;
  args.context->fail({ErrorKind::usage, "the body is not declared as JSON",
                      "send the header Content-Type: application/json"},
                     {}, 415);
  return false;
}

// The subject of the token; empty if there is none. Sets `refused` if there is a token and it is
// not valid.
std::string Site::subject(const HttpRequest& request, bool* refused) const {
  const std::string_view header = request.header("authorization");
  constexpr std::string_view kBearer = "bearer ";
  if (to_lower(header.substr(0, kBearer.size())) != kBearer) return {};
  if (options_.token_verifier) {
    auto subject = options_.token_verifier->verify(trimmed(header.substr(kBearer.size())),
                                                   server_.engine.parts().clock.now());
    if (subject) return std::move(*subject);
  }
  *refused = true;
  return {};
}

Site::PendingPtr Site::chat(HandlerArgs& args) {
  auto request = parse_chat_request(args.request.body);
  if (!request) {
    args.context->fail(request.error().error, request.error().field);
    return nullptr;
  }
  bool ignored = false;  // an invalid token counts as none
  request->subject = subject(args.request, &ignored);
  args.context->set_query(request->query);
  auto stream = std::make_shared<ChatStream>(server_, args.writer, std::move(args.context),
                                             std::move(*request));
  stream->start();
  return stream;
}

Site::PendingPtr Site::discover(HandlerArgs& args) {
  auto request = parse_discover_request(args.request.body);
  if (!request) {
    args.context->fail(request.error().error, request.error().field);
    return nullptr;
  }
  auto job = std::make_shared<WorkerResponse>(server_, std::move(args.context));
  job->start(server_.slow,
             [&server = server_,
              request = std::move(*request)](std::stop_token stop) -> Result<HttpResponse> {
               STOKA_ASSIGN(const pipeline::Recommendations found,
                            pipeline::discover(server.engine, request, stop));
               return json_response(pipeline::to_json(found));
             });
  return job;
}

Site::PendingPtr Site::context(HandlerArgs& args) {
  std::string page = args.request.parameter("page");
  if (page.empty() || page.size() > kMaxPagePathBytes) {
    args.context->fail(
        {ErrorKind::usage, fmt::format("page must be 1 to {} bytes long", kMaxPagePathBytes),
         "e.g. /api/stoka/context?page=/"},
        "page");
    return nullptr;
  }
  if (const std::string* body = clients_->ambient_lines.find(page, monotonic())) {
    args.context->respond(json_response(*body));
    return nullptr;
  }
  auto job = std::make_shared<WorkerResponse>(server_, std::move(args.context));
  job->start(
      server_.slow, [this, page = std::move(page)](std::stop_token stop) -> Result<HttpResponse> {
        STOKA_ASSIGN(const pipeline::Ambient found, pipeline::ambient(server_.engine, page, stop));
        std::string body = pipeline::to_json(found);
        server_.loop.post(
            [this, page, body] { clients_->ambient_lines.put(page, body, monotonic()); });
        return json_response(std::move(body));
      });
  return job;
}

Site::PendingPtr Site::get_profile(HandlerArgs& args) {
  bool refused = false;
  std::string subject = this->subject(args.request, &refused);
  const std::string id = to_lower(args.request.parameter("visitor_id"));
  if (refused) return refuse_token(args);
  if (!is_uuid(id) && (subject.empty() || !id.empty())) {
    args.context->fail({ErrorKind::usage, "visitor_id is not a UUID", "take it from a ready event"},
                       "visitor_id");
    return nullptr;
  }
  auto job = std::make_shared<WorkerResponse>(server_, std::move(args.context));
  job->start(
      server_.quick, [&server = server_, id, subject](std::stop_token) -> Result<HttpResponse> {
        STOKA_ASSIGN(const pipeline::VisitorLookup asker,
                     pipeline::look_up_visitor(server.engine.parts().sessions, id, subject, true));
        if (!asker.stored)
          return fail(ErrorKind::not_found, "there is no such visitor",
                      "set interests to make one");
        return json_response(pipeline::to_json(*asker.stored));
      });
  return job;
}

Site::PendingPtr Site::update_profile(HandlerArgs& args) {
  bool refused = false;
  std::string subject = this->subject(args.request, &refused);
  if (refused) return refuse_token(args);
  auto update = parse_profile_update(args.request.body);
  if (!update) {
    args.context->fail(update.error().error, update.error().field);
    return nullptr;
  }
  auto job = std::make_shared<WorkerResponse>(server_, std::move(args.context));
  job->start(
      server_.quick,
      [&server = server_, update = std::move(*update),
       subject](std::stop_token) -> Result<HttpResponse> {
        const pipeline::Engine::Parts& parts = server.engine.parts();
        STOKA_ASSIGN(
            const pipeline::VisitorLookup asker,
            pipeline::look_up_visitor(parts.sessions, to_lower(update.visitor_id), subject, true));
        if (!asker.stored && asker.id.empty())
          return fail(ErrorKind::not_found, "there is no such visitor",
                      "leave out visitor_id, which belongs to another visitor");
        STOKA_ASSIGN(const Visitor visitor,
                     pipeline::update_profile(parts.index, parts.sessions,
                                              asker.stored ? asker.stored->id : asker.id,
                                              update.interests, update.read, parts.clock.now()));
        return json_response(pipeline::to_json(visitor));
      });
  return job;
}

Site::PendingPtr Site::refuse_token(HandlerArgs& args) {
  args.context->add_header("WWW-Authenticate", "Bearer");
  args.context->fail({ErrorKind::usage, "the token is not valid", "send a valid token, or none"},
                     {}, 401);
  return nullptr;
}

Site::PendingPtr Site::open(HandlerArgs& args) {
  auto job = std::make_shared<WorkerResponse>(server_, std::move(args.context));
  job->start(
      server_.quick,
      [this, slug = args.request.parameter("slug")](std::stop_token) -> Result<HttpResponse> {
        STOKA_ASSIGN(const auto catalog, server_.engine.catalog());
        const Document* const document = catalog->find(slug);
        if (document == nullptr)
          return fail(ErrorKind::not_found, "there is no page with that slug");
        std::string url = safe_link(document->url, server_.engine.settings().site_url);
        if (url.empty()) return fail(ErrorKind::not_found, kNoAddress);
        HttpResponse out{.status = 302, .content_type = {}};
        out.headers.emplace_back("Location", std::move(url));
        out.headers.emplace_back("Cache-Control", "no-store");
        return out;
      });
  return job;
}

Site::PendingPtr Site::openapi(HandlerArgs& args) {
  args.context->respond(json_response(openapi_));
  return nullptr;
}

Site::PendingPtr Site::healthz(HandlerArgs& args) {
  args.context->respond(json_response(R"({"status":"ok"})"));
  return nullptr;
}

// The check runs once at a time, and its result is used for a second.
Site::PendingPtr Site::readyz(HandlerArgs& args) {
  const bool fresh = monotonic() - readiness_time_ < std::chrono::seconds(1);
  if (readiness_ && (fresh || checking_readiness_ || closing_)) {
    args.context->respond(*readiness_);
    return nullptr;
  }
  checking_readiness_ = true;
  auto job = std::make_shared<WorkerResponse>(server_, std::move(args.context));
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
  return json_response(body.dump(-1, ' ', false, OrderedJson::error_handler_t::replace),
                       ready ? 200 : 503);
}

void Site::close() {
  closing_ = true;
  readiness_ = json_response(
      R"({"status":"not ready","checks":[{"name":"server","ok":false,"detail":"shutting down"}]})",
      503);
}

Site::PendingPtr Site::metrics(HandlerArgs& args) {
  auto job = std::make_shared<WorkerResponse>(server_, std::move(args.context));
  job->start(server_.quick, [&server = server_](std::stop_token) -> Result<HttpResponse> {
    HttpResponse out = json_response(server.metrics.text());
    out.content_type = kMetricsType;
    return out;
  });
  return job;
}

Site::PendingPtr Site::file(HandlerArgs& args) {
  const bool page = args.request.path == "/";
  const EmbeddedFile* const file = web_file(page ? "index.html" : "stoka-terminal.js");
  if (file == nullptr || !options_.bot_enabled) {
    args.context->fail({ErrorKind::not_found, "there is nothing here", "see /openapi.json"});
    return nullptr;
  }
  HttpResponse out;
  const std::string tag = fmt::format("\"{}\"", content_hash(file->text));
  out.content_type = page ? "text/html; charset=utf-8" : "text/javascript; charset=utf-8";
  out.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
  // Any site may embed the custom element.
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
