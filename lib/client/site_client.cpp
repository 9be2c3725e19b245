#include "client/site_client.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/url.h"
#include "client/event_reader.h"
#include "net/json_text.h"
#include "net/reason_phrase.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::client {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kApi = "/api/stoka";
constexpr size_t kMaxErrorBytes = 64u << 10;  // the most bytes kept of an error response's body
constexpr size_t kMaxBodyBytes = 4u << 20;
constexpr size_t kMaxProblemText = 300;  // the most bytes shown of a server's message
constexpr size_t kMaxItems = 10;         // the most recommendations kept
constexpr const char* kExample = "give one like http://127.0.0.1:8787 or https://example.com/site";

// A stream has a ping every 15 s. Its first byte may come late, because a model may have to load.
constexpr net::Timeouts kDeadlines{.connect = std::chrono::seconds(5),
                                   .headers = std::chrono::seconds(120),
                                   .first_token = std::chrono::seconds(120),
                                   .idle = std::chrono::seconds(60),
                                   .total = std::chrono::minutes(15)};

std::string encoded(std::string_view text) { return percent_encode(text, "-._~/"); }

// Returns a member of problem details (RFC 9457) as one line for an error.
std::string problem_text(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return {};
  std::string out = text::collapse_whitespace(text::one_line(found->get<std::string>()));
  if (out.size() > kMaxProblemText) out.resize(text::floor_char_boundary(out, kMaxProblemText));
  while (out.ends_with('.')) out.pop_back();
  return out;
}

Json parsed(std::string_view body) {
  const auto text = net::repair_json(body);
  return text ? Json::parse(*text, nullptr, false) : Json();
}

void add(Json& body, const char* name, const std::string& value) {
  if (!value.empty()) body[name] = value;
}

// Collects a response. If its status is an error, only the beginning of the body is kept.
struct ResponseCollector : net::BodySink {
  net::HttpResponse answer;

  Result<> head(const net::ResponseHead& head) override {
    answer.status = head.status;
    answer.content_type = head.content_type;
    answer.retry_after = head.retry_after;
    answer.rate_limit_remaining = head.rate_limit_remaining;
    return {};
  }
  Result<net::BodyProgress> body(std::string_view bytes) override {
    answer.body += bytes;
    if (answer.ok() || answer.body.size() < kMaxErrorBytes) return net::BodyProgress::content;
    answer.body.resize(kMaxErrorBytes);
    return net::BodyProgress::stop_reading;
  }
};

struct ChatListener final : ResponseCollector {
  explicit ChatListener(EventSink sink) : reader(std::move(sink)) {}
  EventReader reader;

  bool streaming() const {
    return answer.status == 200 && answer.content_type == "text/event-stream";
  }
  Result<net::BodyProgress> body(std::string_view bytes) override {
    if (!streaming()) {
      // An error response is read only up to kMaxErrorBytes.
      STOKA_TRY(ResponseCollector::body(bytes));
      return answer.body.size() < kMaxErrorBytes ? net::BodyProgress::content
                                                 : net::BodyProgress::stop_reading;
    }
    const Result<> result = reader.push(bytes);
    if (reader.over()) return net::BodyProgress::content_complete;
    if (!result) return fail(result.error());
    return reader.began() ? net::BodyProgress::content : net::BodyProgress::nothing_useful;
  }
};

}  // namespace

Result<SiteClient> SiteClient::make(net::Transport& transport, std::string_view pasted,
                                    Secret token) {
  auto url = net::BaseUrl::parse(pasted, net::ApiRoot::plain);
  if (!url) return fail(ErrorKind::usage, url.error().message, kExample);
  std::string shown = url->display();
  const size_t authority = shown.find("://") + 3;
  if (const size_t api = shown.find(kApi, authority); api != std::string::npos) {
    const std::string_view rest = std::string_view(shown).substr(api + kApi.size());
    if (rest.empty() || rest.starts_with('/')) shown.resize(api);
  }
  return SiteClient(transport, *url, std::move(shown), std::move(token));
}

SiteClient::SiteClient(net::Transport& transport, const net::BaseUrl& url, std::string shown,
                       Secret token)
    : transport_(&transport),
      url_(std::move(shown)),
      loopback_(url.is_loopback()),
      token_(std::move(token)) {}

std::string SiteClient::context_path(std::string_view page) {
  return fmt::format("{}/context?page={}", kApi, encoded(page));
}

std::string SiteClient::open_path(std::string_view slug) {
  return fmt::format("{}/open?slug={}", kApi, encoded(slug));
}

std::string SiteClient::chat_body(const pipeline::TurnRequest& request) {
  Json body = {{"query", request.query}};
  add(body, "session_id", request.session_id);
  add(body, "visitor_id", request.visitor_id);
  add(body, "page", request.page.page);
  add(body, "page_title", request.page.page_title);
  if (request.page.scroll_pct) body["scroll_pct"] = *request.page.scroll_pct;
  if (!request.page.seen_slugs.empty()) body["seen_slugs"] = request.page.seen_slugs;
  return to_json_text(body);
}

net::HttpRequest SiteClient::request(std::string_view path) const {
  net::HttpRequest out;
  out.method = "GET";
  out.url = fmt::format("{}{}", url_, path);
  out.key = token_;
  out.use_proxy = !loopback_;
  out.timeouts = kDeadlines;
  out.max_body_bytes = kMaxBodyBytes;
  return out;
}

Result<net::HttpResponse> SiteClient::perform(const net::HttpRequest& request,
                                              std::stop_token stop) const {
  ResponseCollector collector;
  const auto failure = transport_->perform(request, collector, std::move(stop));
  if (failure) return fail(with_url(*failure));
  return std::move(collector.answer);
}

Result<net::HttpResponse> SiteClient::get(std::string_view path, std::stop_token stop) const {
  return perform(request(path), std::move(stop));
}

Result<net::HttpResponse> SiteClient::post(std::string_view path, std::string body,
                                           std::stop_token stop) const {
  net::HttpRequest asked = request(path);
  asked.method = "POST";
  asked.body = std::move(body);
  return perform(asked, std::move(stop));
}

Result<> SiteClient::chat(const pipeline::TurnRequest& request, const EventSink& sink,
                          std::stop_token stop) const {
  // A query that the server would refuse is refused by the client, with a message for a person.
  STOKA_ASSIGN(std::string query, pipeline::clean_query(request.query));
  pipeline::TurnRequest clean = request;
  clean.query = std::move(query);
  net::HttpRequest asked = this->request(fmt::format("{}/chat", kApi));
  asked.method = "POST";
  asked.accept = "text/event-stream";
  asked.body = chat_body(clean);

  ChatListener stream([&](const Event& event) {
    if (!std::holds_alternative<CiteEvent>(event)) return sink(event);
    CiteEvent cite = std::get<CiteEvent>(event);
    complete_url(cite.citation);
    sink(cite);
  });
  auto failure = transport_->perform(asked, stream, stop);
  if (stream.reader.over()) return {};
  if (!failure && !stream.streaming()) return fail(refusal(stream.answer));
  if (!failure) failure = net::TransferFailure{stream.reader.end().error(), true, true};
  if (!stream.reader.began()) return fail(with_url(*failure));
  if (failure->error.kind != ErrorKind::cancelled)
    sink(ErrorEvent{with_url(*failure).message, true});
  return {};
}

Result<pipeline::Recommendations> SiteClient::discover(const pipeline::DiscoverRequest& request,
                                                       std::stop_token stop) const {
  Json body = {{"limit", request.limit}};
  add(body, "visitor_id", request.visitor_id);
  add(body, "page", request.page.page);
  if (!request.page.seen_slugs.empty()) body["seen_slugs"] = request.page.seen_slugs;
  STOKA_ASSIGN(const net::HttpResponse answer,
               post(fmt::format("{}/discover", kApi), to_json_text(body), std::move(stop)));
  STOKA_TRY(check_json(answer));

  const Error malformed = not_stoka("its answer has no recommendations");
  const Json json = parsed(answer.body);
  if (!json.is_object() || !json.contains("recommendations") || !json.contains("confidence"))
    return fail(malformed);
  pipeline::Recommendations out;
  const Json& items = json["recommendations"];
  if (!items.is_array()) return fail(malformed);
  for (const Json& item : items) {
    if (out.items.size() == kMaxItems) break;
    auto cite =
        item.is_object() ? read_event("cite", to_json_text(item)) : Result<Event>(fail(malformed));
    if (!cite) return fail(malformed);
    pipeline::Recommendation one{std::get<CiteEvent>(*cite).citation, {}};
    complete_url(one.citation);
    if (item.contains("framing") && item["framing"].is_string())
      one.framing = item["framing"].get<std::string>();
    out.items.push_back(std::move(one));
  }
  for (const Confidence confidence :
       {Confidence::direct, Confidence::adjacent, Confidence::nothing}) {
    if (json["confidence"] != to_string(confidence)) continue;
    out.confidence = confidence;
    return out;
  }
  return fail(malformed);
}

Result<pipeline::Ambient> SiteClient::context(std::string_view page, std::stop_token stop) const {
  STOKA_ASSIGN(const net::HttpResponse answer, get(context_path(page), std::move(stop)));
  STOKA_TRY(check_json(answer));
  const Error malformed = not_stoka("its answer has no hint");
  const Json json = parsed(answer.body);
  if (!json.is_object() || !json.contains("hint") || !json.contains("cite")) return fail(malformed);
  pipeline::Ambient out;
  if (json["hint"].is_string())
    out.hint = json["hint"].get<std::string>();
  else if (!json["hint"].is_null())
    return fail(malformed);
  if (json["cite"].is_null()) return out;
  auto cite = read_event("cite", to_json_text(json["cite"]));
  if (!cite) return fail(malformed);
  out.citation = std::move(std::get<CiteEvent>(*cite).citation);
  complete_url(*out.citation);
  return out;
}

void SiteClient::complete_url(Citation& citation) const {
  const std::string_view host =
      std::string_view(url_).substr(0, url_.find('/', url_.find("://") + 3));
  citation.url = safe_link(citation.url, host);
}

Result<> SiteClient::check_json(const net::HttpResponse& answer) const {
  if (answer.status == 200 && answer.content_type == "application/json") return {};
  return fail(refusal(answer));
}

Error SiteClient::not_stoka(std::string_view why) const {
  return {ErrorKind::protocol, fmt::format("{} is not a stoka server: {}", url_, why), kExample};
}

Error SiteClient::with_url(const net::TransferFailure& failure) const {
  const Error& error = failure.error;
  if (error.kind == ErrorKind::cancelled) return error;
  if (!failure.connected &&
      (error.kind == ErrorKind::unavailable || failure.cause != net::FailureCause::other))
    return {error.kind, fmt::format("{} does not answer: {}", url_, error.message),
            !error.hint.empty() ? error.hint
            : loopback_         ? "start it with: stoka serve"
                                : "check the address, and whether the server runs"};
  std::string hint = error.hint;
  if (hint.empty() && error.kind == ErrorKind::protocol && !failure.answered)
    hint = "is it a stoka server?";
  if (hint.empty() && retryable(error.kind)) hint = "ask again";
  return {error.kind, fmt::format("{}: {}", url_, error.message), hint};
}

Error SiteClient::refusal(const net::HttpResponse& answer) const {
  const int status = answer.status;
  const Json problem =
      answer.content_type == "application/problem+json" ? parsed(answer.body) : Json();
  std::string detail = problem.is_object() ? problem_text(problem, "detail") : "";
  std::string hint = problem.is_object() ? problem_text(problem, "hint") : "";
  const bool busy = status == 429 || (status == 503 && problem.is_object() &&
                                      problem_text(problem, "code") == to_string(ErrorKind::busy));
  if (detail.empty()) {
    if (status / 100 == 3)
      return {ErrorKind::protocol,
              fmt::format("{} redirects to another address (HTTP {})", url_, status),
              url_.starts_with("http://") ? "is it https:// rather than http://?"
                                          : "give the address that it redirects to"};
    if (status != 429 && status / 100 != 5)
      return not_stoka(status / 100 == 2
                           ? fmt::format("it answers {}", answer.content_type.empty()
                                                              ? "a body without a content type"
                                                              : answer.content_type)
                           : fmt::format("HTTP {}", status));
    detail = fmt::format("{} answers HTTP {} ({})", url_, status, net::reason_phrase(status));
  }
  if (answer.retry_after && (status == 429 || status == 503)) {
    const std::string later = fmt::format("try again in {} s", answer.retry_after->count());
    const bool said = hint.empty() || hint.find("try again") != std::string::npos;
    hint = said ? later : fmt::format("{}; or {}", hint, later);
  } else if (hint.empty() && (busy || status / 100 == 5)) {
    hint = "try again later";
  }
  const ErrorKind kind = status == 400       ? ErrorKind::usage
                         : status == 404     ? ErrorKind::not_found
                         : busy              ? ErrorKind::busy
                         : status / 100 == 5 ? ErrorKind::unavailable
                                             : ErrorKind::protocol;
  return {kind, std::move(detail), std::move(hint)};
}

}  // namespace stoka::client
