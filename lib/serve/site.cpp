#include "serve/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/embedded.h"
#include "base/hash.h"
#include "base/link.h"
#include "pipeline/discover.h"
#include "pipeline/profile.h"
#include "serve/bodies.h"
#include "serve/chat_stream.h"
#include "serve/job.h"
#include "serve/openapi.h"
#include "serve/page_cache.h"
#include "serve/problem.h"

namespace stoka::serve {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMostPage = 2048;
// Everything of the page comes from here, and no script but its own.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

std::chrono::nanoseconds monotonic() { return std::chrono::steady_clock::now().time_since_epoch(); }

Response json_response(std::string body, int status = 200) {
  Response out;
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

// How often a client may ask, and what was answered to everybody.
struct Site::Limiter {
  explicit Limiter(const SiteOptions& options)
      : chat(options.chat.requests, options.chat.window),
        discover(options.discover.requests, options.discover.window),
        context(options.context.requests, options.context.window) {}
  RateLimit chat, discover, context;
  PageCache pages;
};

struct Site::Row {
  std::string_view method;
  std::string_view path;
  Answer (Site::*answer)(Ask& ask);
  RateLimit Limiter::*limit = nullptr;
  bool of_bot() const { return path.starts_with("/api/"); }
};

struct Site::Ask {
  Request& request;
  Client& client;
  std::unique_ptr<Visit> visit;
};

const Site::Row Site::kRows[] = {
    {"POST", "/api/stoka/chat", &Site::chat, &Limiter::chat},
    {"POST", "/api/stoka/discover", &Site::discover, &Limiter::discover},
    {"GET", "/api/stoka/context", &Site::context, &Limiter::context},
    {"GET", "/api/stoka/profile", &Site::show_profile, &Limiter::discover},
    {"POST", "/api/stoka/profile", &Site::set_profile, &Limiter::discover},
    {"GET", "/api/stoka/open", &Site::open, &Limiter::context},
    {"GET", "/openapi.json", &Site::openapi},
    {"GET", "/healthz", &Site::healthz},
    {"GET", "/readyz", &Site::readyz},
    {"GET", "/metrics", &Site::metrics},
    {"GET", "/", &Site::file},
    {"GET", "/stoka-terminal.js", &Site::file},
};

Site::Site(House& house, SiteOptions options)
    : house_(house),
      options_(std::move(options)),
      openapi_(openapi_json(options_.bot_enabled, STOKA_VERSION)),
      limiter_(std::make_unique<Limiter>(options_)) {}

Site::~Site() = default;

std::vector<std::pair<std::string_view, std::string_view>> Site::routes() {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  for (const Row& row : kRows) out.emplace_back(row.method, row.path);
  return out;
}

const Site::Row* Site::find(const Request& request, std::string* allowed) const {
  for (const Row& row : kRows) {
    if (row.path != request.path || (row.of_bot() && !options_.bot_enabled)) continue;
    const bool head = request.method == "HEAD" && row.method == "GET";
    if (head || row.method == request.method) return &row;
    *allowed += (allowed->empty() ? "" : ", ") + std::string(row.method);
    if (row.method == "GET") *allowed += ", HEAD";
  }
  return nullptr;
}

// Of every answer but that to a preflight.
Cors::Headers Site::cors_headers(const Request& request) const {
  if (!request.path.starts_with("/api/")) return {};
  return options_.cors.headers(request.header("origin"));
}

// Nothing: it is no preflight, or not granted.
std::optional<Cors::Headers> Site::preflight(const Request& request) const {
  if (request.method != "OPTIONS" || !request.path.starts_with("/api/")) return std::nullopt;
  return options_.cors.preflight(request.header("origin"),
                                 request.header("access-control-request-method"),
                                 request.header("access-control-request-headers"));
}

Response Site::refuse(const Request& head, int status, std::string_view why,
                      std::string_view hint) {
  house_.metrics.requests("other", status).add();
  Visited visited;
  visited.route = "other";
  visited.status = status;
  visited.detail = why;
  house_.journal.visited(visited);
  Response out;
  out.status = status;
  out.close = true;
  out.content_type = "application/problem+json";
  out.body = problem_json(status, Error(ErrorKind::usage, std::string(why), std::string(hint)), {},
                          house_.engine.parts().ids.uuid());
  for (auto& header : cors_headers(head)) out.headers.push_back(std::move(header));
  return out;
}

std::shared_ptr<Pending> Site::handle(Request request, Client& client) {
  std::string allowed;
  const Row* const row = find(request, &allowed);
  const auto granted = allowed.empty() ? std::nullopt : preflight(request);
  Ask ask{request, client,
          std::make_unique<Visit>(house_, client, request, row ? row->path : "other",
                                  house_.engine.parts().ids,
                                  granted ? *granted : cors_headers(request))};
  if (row != nullptr) return admitted(*row, ask) ? (this->*row->answer)(ask) : nullptr;

  if (request.method == "OPTIONS" && !allowed.empty()) {
    Response out{.status = 204, .content_type = {}};
    if (!granted) out.headers.emplace_back("Allow", allowed + ", OPTIONS");
    ask.visit->respond(std::move(out));
  } else if (!allowed.empty()) {
    ask.visit->add_header("Allow", allowed + ", OPTIONS");
    ask.visit->fail({ErrorKind::usage, fmt::format("{} is for {}", request.path, allowed)}, {},
                    405);
  } else {
    ask.visit->fail({ErrorKind::not_found, "there is nothing here", "see /openapi.json"});
  }
  return nullptr;
}

// Before the body is looked at.
bool Site::admitted(const Row& row, Ask& ask) {
  if (row.limit != nullptr) {
    const auto forwarded = ask.request.all("x-forwarded-for");
    const Address address =
        client_address(ask.client.address(), forwarded, options_.trusted_proxies);
    RateLimit& limit = (*limiter_).*row.limit;
    const std::string client = rate_key(address);
    const auto now = monotonic();
    const auto wait = limit.admit(client, now);
    if (limit.requests() > 0) {
      ask.visit->add_header("RateLimit-Limit", std::to_string(limit.requests()));
      ask.visit->add_header("RateLimit-Remaining", std::to_string(limit.left(client, now)));
    }
    if (wait) {
      house_.metrics.rate_limited(row.path).add();
      ask.visit->add_header("Retry-After", std::to_string(wait->count()));
      ask.visit->fail({ErrorKind::busy, "too many requests from this address",
                       fmt::format("try again in {} s", wait->count())},
                      {}, 429);
      return false;
    }
  }
  if (row.method != "POST") return true;
  if (lower(trimmed(media_type(ask.request.header("content-type")))) == "application/json")
    return true;
  ask.visit->fail({ErrorKind::usage, "the body is not declared as JSON",
                   "send the header Content-Type: application/json"},
                  {}, 415);
  return false;
}

// The subject of a valid token. Refused: there is a token, and it is not valid.
std::string Site::subject(const Request& request, bool* refused) const {
  const std::string_view header = request.header("authorization");
  constexpr std::string_view kBearer = "bearer ";
  if (lower(header.substr(0, kBearer.size())) != kBearer) return {};
  if (options_.tokens) {
    auto subject = options_.tokens->verify(trimmed(header.substr(kBearer.size())),
                                           house_.engine.parts().clock.now());
    if (subject) return std::move(*subject);
  }
  *refused = true;
  return {};
}

Site::Answer Site::chat(Ask& ask) {
  auto request = read_chat(ask.request.body);
  if (!request) {
    ask.visit->fail(request.error().error, request.error().field);
    return nullptr;
  }
  bool ignored = false;  // an invalid token is as good as none
  request->subject = subject(ask.request, &ignored);
  ask.visit->set_query(request->query);
  auto stream =
      std::make_shared<ChatStream>(house_, ask.client, std::move(ask.visit), std::move(*request));
  stream->start();
  return stream;
}

Site::Answer Site::discover(Ask& ask) {
  auto request = read_discover(ask.request.body);
  if (!request) {
    ask.visit->fail(request.error().error, request.error().field);
    return nullptr;
  }
  auto job = std::make_shared<Job>(house_, std::move(ask.visit));
  job->start(
      house_.slow,
      [&house = house_, request = std::move(*request)](std::stop_token stop) -> Result<Response> {
        STOKA_ASSIGN(const pipeline::Recommendations found,
                     pipeline::discover(house.engine, request, stop));
        return json_response(pipeline::to_json(found));
      });
  return job;
}

Site::Answer Site::context(Ask& ask) {
  std::string page = ask.request.parameter("page");
  if (page.empty() || page.size() > kMostPage) {
    ask.visit->fail({ErrorKind::usage, fmt::format("page must have 1 to {} bytes", kMostPage),
                     "e.g. /api/stoka/context?page=/"},
                    "page");
    return nullptr;
  }
  if (const std::string* body = limiter_->pages.find(page, monotonic())) {
    ask.visit->respond(json_response(*body));
    return nullptr;
  }
  auto job = std::make_shared<Job>(house_, std::move(ask.visit));
  job->start(house_.slow, [this, page = std::move(page)](std::stop_token stop) -> Result<Response> {
    STOKA_ASSIGN(const pipeline::Ambient found, pipeline::ambient(house_.engine, page, stop));
    std::string body = pipeline::to_json(found);
    house_.loop.post([this, page, body] { limiter_->pages.put(page, body, monotonic()); });
    return json_response(std::move(body));
  });
  return job;
}

Site::Answer Site::show_profile(Ask& ask) {
  bool refused = false;
  std::string subject = this->subject(ask.request, &refused);
  const std::string id = lower(ask.request.parameter("visitor_id"));
  if (refused) return unauthorized(ask);
  if (!is_uuid(id) && (subject.empty() || !id.empty())) {
    ask.visit->fail({ErrorKind::usage, "visitor_id is not a UUID", "a ready event has it"},
                    "visitor_id");
    return nullptr;
  }
  auto job = std::make_shared<Job>(house_, std::move(ask.visit));
  job->start(house_.quick, [&house = house_, id, subject](std::stop_token) -> Result<Response> {
    STOKA_ASSIGN(const pipeline::Asker asker,
                 pipeline::asker(house.engine.parts().store, id, subject, true));
    if (!asker.known)
      return fail(ErrorKind::not_found, "no such visitor", "set interests to make one");
    return json_response(pipeline::to_json(*asker.known));
  });
  return job;
}

Site::Answer Site::set_profile(Ask& ask) {
  bool refused = false;
  std::string subject = this->subject(ask.request, &refused);
  if (refused) return unauthorized(ask);
  auto update = read_profile(ask.request.body);
  if (!update) {
    ask.visit->fail(update.error().error, update.error().field);
    return nullptr;
  }
  auto job = std::make_shared<Job>(house_, std::move(ask.visit));
  job->start(
      house_.quick,
      [&house = house_, update = std::move(*update), subject](std::stop_token) -> Result<Response> {
        const pipeline::Engine::Parts& parts = house.engine.parts();
        STOKA_ASSIGN(const pipeline::Asker asker,
                     pipeline::asker(parts.store, lower(update.visitor_id), subject, true));
        if (!asker.known && asker.id.empty())
          return fail(ErrorKind::not_found, "no such visitor", "leave out the id of somebody else");
        STOKA_ASSIGN(const Visitor visitor,
                     pipeline::update_profile(parts.store, asker.known ? asker.known->id : asker.id,
                                              update.interests, update.read, parts.clock.now()));
        return json_response(pipeline::to_json(visitor));
      });
  return job;
}

Site::Answer Site::unauthorized(Ask& ask) {
  ask.visit->add_header("WWW-Authenticate", "Bearer");
  ask.visit->fail({ErrorKind::usage, "the token is not valid", "send a valid one, or none"}, {},
                  401);
  return nullptr;
}

Site::Answer Site::open(Ask& ask) {
  auto job = std::make_shared<Job>(house_, std::move(ask.visit));
  job->start(house_.quick,
             [this, slug = ask.request.parameter("slug")](std::stop_token) -> Result<Response> {
               STOKA_ASSIGN(const auto catalog, house_.engine.catalog());
               const Document* const document = catalog->find(slug);
               if (document == nullptr) return fail(ErrorKind::not_found, "no page of that slug");
               std::string url = safe_link(document->url, house_.engine.settings().site_url);
               if (url.empty()) return fail(ErrorKind::not_found, kNoAddress);
               Response out{.status = 302, .content_type = {}};
               out.headers.emplace_back("Location", std::move(url));
               out.headers.emplace_back("Cache-Control", "no-store");
               return out;
             });
  return job;
}

Site::Answer Site::openapi(Ask& ask) {
  ask.visit->respond(json_response(openapi_));
  return nullptr;
}

Site::Answer Site::healthz(Ask& ask) {
  ask.visit->respond(json_response(R"({"status":"ok"})"));
  return nullptr;
}

// One asks at a time, and not all the time.
Site::Answer Site::readyz(Ask& ask) {
  const bool fresh = monotonic() - ready_at_ < std::chrono::seconds(1);
  if (readiness_ && (fresh || asking_readiness_ || closing_)) {
    ask.visit->respond(*readiness_);
    return nullptr;
  }
  asking_readiness_ = true;
  auto job = std::make_shared<Job>(house_, std::move(ask.visit));
  job->start(house_.slow, [this](std::stop_token stop) -> Result<Response> {
    Response out = readiness(stop);
    house_.loop.post([this, out] {
      asking_readiness_ = false;
      if (closing_) return;
      readiness_ = out;
      ready_at_ = monotonic();
    });
    return out;
  });
  return job;
}

Response Site::readiness(std::stop_token stop) const {
  OrderedJson checks = OrderedJson::array();
  bool ready = true;
  const auto check = [&](const char* name, const Result<>& result) {
    ready = ready && result.has_value();
    checks.push_back({{"name", name},
                      {"ok", result.has_value()},
                      {"detail", result ? "" : result.error().message}});
  };
  const auto stats = house_.engine.parts().store.stats();
  check("store", stats ? Result<>() : Result<>(fail(stats.error())));
  if (stats) check("index", house_.engine.check_index(stop));
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

Site::Answer Site::metrics(Ask& ask) {
  auto job = std::make_shared<Job>(house_, std::move(ask.visit));
  job->start(house_.quick, [&house = house_](std::stop_token) -> Result<Response> {
    Response out = json_response(house.metrics.text());
    out.content_type = kMetricsType;
    return out;
  });
  return job;
}

Site::Answer Site::file(Ask& ask) {
  const bool page = ask.request.path == "/";
  const EmbeddedFile* const file = web_file(page ? "index.html" : "stoka-terminal.js");
  if (file == nullptr || !options_.bot_enabled) {
    ask.visit->fail({ErrorKind::not_found, "there is nothing here", "see /openapi.json"});
    return nullptr;
  }
  Response out;
  const std::string tag = fmt::format("\"{}\"", content_hash(file->text));
  out.content_type = page ? "text/html; charset=utf-8" : "text/javascript; charset=utf-8";
  out.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
  // Any site may embed the element.
  if (page)
    out.headers.emplace_back("Content-Security-Policy", kPolicy);
  else
    out.headers.emplace_back("Access-Control-Allow-Origin", "*");
  if (ask.request.header("if-none-match") == tag)
    out.status = 304;
  else
    out.body = file->text;
  ask.visit->respond(std::move(out));
  return nullptr;
}

}  // namespace stoka::serve
