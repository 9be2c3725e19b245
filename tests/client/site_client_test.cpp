#include "client/site_client.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "scripted_site.h"
#include "serve/event_stream.h"
#include "serve/http.h"
#include "support/json.h"

namespace site_client_test {

using namespace stoka;
using client::SiteClient;
using testing::Reply;
using testing::ScriptedSite;
using Json = nlohmann::json;

namespace {

constexpr const char* kUrl = "https://example.com/site";

SiteClient remote(net::Transport& transport, std::string_view url = kUrl) {
  auto made = SiteClient::make(transport, url);
  REQUIRE_MESSAGE(made, made.error().message);
  return *made;
}

std::string wire(const std::vector<Event>& events) {
  std::string out;
  for (const Event& event : events) serve::append_event(out, event);
  return out;
}

Citation cited() {
  return {"a b/ü",           "Title",
          "a quote",         "blog",
          "8 min",           "Apr 12",
          "/a#:~:text=b",    0.5,
          CiteKind::product, parse_date("2026-04-12")};
}

const std::vector<Event> kAnswer = {ReadyEvent{"s", "v", Route::fresh}, TokenEvent{"hello"},
                                    CiteEvent{cited()}, DoneEvent{1, Confidence::direct, 3}};

Reply streamed(std::string body) { return {.type = "text/event-stream", .body = std::move(body)}; }

Reply problem(int status, const Error& error) {
  return {.status = status,
          .type = "application/problem+json",
          .body = serve::problem_details_json(status, error, "query", "id")};
}

struct ChatOutcome {
  Result<> result;
  std::vector<Event> events;
};

ChatOutcome ask(net::Transport& site, std::string query = "tell me", std::stop_token stop = {}) {
  ChatOutcome out;
  pipeline::TurnRequest request;
  request.query = std::move(query);
  out.result = remote(site).chat(
      request, [&](const Event& event) { out.events.push_back(event); }, std::move(stop));
  return out;
}

Error refused(Reply reply) {
  ScriptedSite site(std::move(reply));
  const ChatOutcome outcome = ask(site);
  REQUIRE(!outcome.result);
  CHECK(outcome.events.empty());
  CHECK(outcome.result.error().message.find('\n') == std::string::npos);
  return outcome.result.error();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("make accepts an address in any form and keeps its path") {
  ScriptedSite site(Reply{});
  for (const auto& [pasted, url] : std::initializer_list<std::pair<const char*, const char*>>{
           {"localhost:8787", "http://localhost:8787"},
           {" http://127.0.0.1:8787/ ", "http://127.0.0.1:8787"},
           {"https://example.com/some/prefix/", "https://example.com/some/prefix"},
           {"https://example.com/api/stoka/chat", "https://example.com"},
           {"https://example.com/x/api/stoka", "https://example.com/x"},
           {"https://example.com/api/stokas", "https://example.com/api/stokas"},
           {"http://[::1]:80/", "http://[::1]:80"}}) {
    CAPTURE(std::string(pasted));
    CHECK(remote(site, pasted).url() == url);
  }
  for (const char* wrong :
       {"", "ftp://example.com", "http://", "http://a b", "http://u:p@host", "http://host:99999"}) {
    CAPTURE(std::string(wrong));
    const auto made = SiteClient::make(site, wrong);
    REQUIRE(!made);
    CHECK(made.error().kind == ErrorKind::usage);
  }
}

TEST_CASE("chat posts only the fields that are set") {
  ScriptedSite site(streamed(wire(kAnswer)));
  auto made = SiteClient::make(site, kUrl, Secret("token-of-mine"));
  REQUIRE(made);
  pipeline::TurnRequest request;
  request.query = "  what\tabout\x01 it \xff";
  const EventSink nowhere = [](const Event&) {};
  REQUIRE(made->chat(request, nowhere));
  request = {"q", "s", "v", "nobody", {"/p", "P", 40, {"a", "b"}}};
  REQUIRE(made->chat(request, nowhere));
  const auto requests = site.requests();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].method == "POST");
  CHECK(requests[0].url == "https://example.com/site/api/stoka/chat");
  CHECK(requests[0].key.reveal() == "token-of-mine");
  const Json bare = Json::parse(requests[0].body);
  CHECK(bare.size() == 1);
  CHECK(bare.contains("query"));
  CHECK(Json::parse(requests[1].body) == Json{{"query", "q"},
                                              {"session_id", "s"},
                                              {"visitor_id", "v"},
                                              {"page", "/p"},
                                              {"page_title", "P"},
                                              {"scroll_pct", 40},
                                              {"seen_slugs", {"a", "b"}}});
}

TEST_CASE("chat does not send an invalid query") {
  ScriptedSite site(streamed(wire(kAnswer)));
  for (const std::string& query : {std::string(" "), std::string(5000, 'a')}) {
    const ChatOutcome outcome = ask(site, query);
    REQUIRE(!outcome.result);
    CHECK(outcome.result.error().kind == ErrorKind::usage);
  }
  CHECK(site.requests().empty());
}

TEST_CASE("chat passes all events in order and completes citation URLs") {
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{4096}}) {
    ScriptedSite site(streamed(":\n\n" + wire(kAnswer)), piece);
    const ChatOutcome outcome = ask(site);
    REQUIRE(outcome.result);
    REQUIRE(outcome.events.size() == kAnswer.size());
    Citation whole = cited();
    whole.url = "https://example.com/a#:~:text=b";
    for (size_t i = 0; i < kAnswer.size(); ++i)
      CHECK(data_json(outcome.events[i]) == data_json(i == 2 ? CiteEvent{whole} : kAnswer[i]));
  }
}

TEST_CASE("a citation URL that must not be linked is dropped") {
  struct Case {
    Json url;
    const char* known;
  };
  const Case cases[] = {
      {"https://other.example/a#b", "https://other.example/a#b"},
      {"/a b", "https://example.com/a%20b"},
      {nullptr, ""},
      {"javascript:alert(1)", ""},
      {"//evil.example/", ""},
      {"/a\x1b]8;;", ""},
      {"", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.url.dump());
    Json item = Json::parse(data_json(CiteEvent{cited()}));
    item["url"] = c.url;
    ScriptedSite site(Reply{.body = Json{{"hint", nullptr}, {"cite", item}}.dump()});
    const auto found = remote(site).context("/x");
    REQUIRE_MESSAGE(found, found.error().message);
    CHECK(found->citation->url == c.known);
  }
}

TEST_CASE("a failure after ready becomes an error event") {
  const std::string ready = wire({kAnswer[0], kAnswer[1]});
  const net::TransferFailure broke{Error(ErrorKind::unavailable, "the connection broke off"), true,
                                   true};
  struct Case {
    Reply reply;
    const char* about;
  };
  Reply broken = streamed(ready);
  broken.failure = broke;
  for (const Case& c :
       {Case{broken, "broke off"}, Case{streamed(ready), "without a done or error event"},
        Case{streamed(ready + ready), "a second ready event"},
        Case{streamed(ready + "event: token\ndata: 5\n\n"), "is not a JSON object"}}) {
    ScriptedSite site(c.reply);
    const ChatOutcome outcome = ask(site);
    CHECK(outcome.result);
    REQUIRE(outcome.events.size() == 3);
    REQUIRE(std::holds_alternative<ErrorEvent>(outcome.events[2]));
    const ErrorEvent error = std::get<ErrorEvent>(outcome.events[2]);
    CHECK_MESSAGE(has(error.message, c.about), error.message);
    CHECK(has(error.message, kUrl));
    CHECK(error.retryable);
  }
}

TEST_CASE("nothing is passed on after the last event") {
  Reply reply = streamed(wire(kAnswer) + wire(kAnswer));
  reply.failure = net::TransferFailure{Error(ErrorKind::unavailable, "broke off"), true, true};
  for (const size_t piece : {size_t{3}, size_t{4096}}) {
    ScriptedSite site(reply, piece);
    const ChatOutcome outcome = ask(site);
    CHECK(outcome.result);
    CHECK(outcome.events.size() == kAnswer.size());
  }
}

TEST_CASE("a failure before ready is returned, and no event is passed on") {
  CHECK(has(refused(streamed("")).message, "without a done or error event"));
  CHECK(has(refused(streamed(wire({kAnswer[1]}))).message, "before ready"));
  const Error gone =
      refused({.failure = net::TransferFailure{Error(ErrorKind::unavailable, "connection refused"),
                                               false, false}});
  CHECK(gone.kind == ErrorKind::unavailable);
  CHECK(gone.message == "https://example.com/site does not answer: connection refused");
  CHECK(!gone.hint.empty());
}

TEST_CASE("a stop request ends the stream without a last event") {
  std::stop_source source;
  source.request_stop();
  ScriptedSite site(streamed(wire(kAnswer)));
  const ChatOutcome before = ask(site, "q", source.get_token());
  REQUIRE(!before.result);
  CHECK(before.result.error().kind == ErrorKind::cancelled);

  std::stop_source later;
  ScriptedSite slow(streamed(wire(kAnswer)), 1);
  std::vector<Event> events;
  pipeline::TurnRequest request;
  request.query = "q";
  const auto result = remote(slow).chat(
      request,
      [&](const Event& event) {
        events.push_back(event);
        later.request_stop();
      },
      later.get_token());
  CHECK(result);
  CHECK(events.size() == 1);
}

TEST_CASE(
    "an error for a refused request has the server's message, and the kind that fits the status") {
  struct Case {
    int status;
    ErrorKind code;
    ErrorKind kind;
  };
  for (const Case& c : {Case{400, ErrorKind::usage, ErrorKind::usage},
                        Case{404, ErrorKind::not_found, ErrorKind::not_found},
                        Case{401, ErrorKind::usage, ErrorKind::protocol},
                        Case{413, ErrorKind::usage, ErrorKind::protocol},
                        Case{429, ErrorKind::busy, ErrorKind::busy},
                        Case{500, ErrorKind::data, ErrorKind::unavailable},
                        Case{503, ErrorKind::busy, ErrorKind::busy},
                        Case{503, ErrorKind::unavailable, ErrorKind::unavailable},
                        Case{504, ErrorKind::timeout, ErrorKind::unavailable}}) {
    CAPTURE(c.status);
    const Error error = refused(problem(c.status, Error(c.code, "what is wrong", "what to do")));
    CHECK(error.kind == c.kind);
    CHECK(error.message == "what is wrong");
    CHECK(error.hint == "what to do");
  }
}

TEST_CASE("the Retry-After header becomes the hint of the error") {
  struct Case {
    int status;
    const char* hint;
    const char* shown;
  };
  for (const Case& c : {Case{429, "", "try again in 7 s"}, Case{503, "", "try again in 7 s"},
                        Case{429, "try again in a moment", "try again in 7 s"},
                        Case{503, "start it", "start it; or try again in 7 s"}}) {
    Reply reply = problem(c.status, Error(ErrorKind::busy, "too much", c.hint));
    reply.retry_after = std::chrono::seconds(7);
    CHECK(refused(reply).hint == c.shown);
  }
  Reply proxy{.status = 429, .type = "text/html", .body = "<h1>slow down</h1>"};
  proxy.retry_after = std::chrono::seconds(7);
  const Error error = refused(proxy);
  CHECK(error.kind == ErrorKind::busy);
  CHECK(error.hint == "try again in 7 s");
}

TEST_CASE("a server that is not stoka gives a protocol error on one line") {
  const std::string page = "<html>" + std::string(1 << 20, 'x');
  for (const Reply& reply :
       {Reply{.type = "text/html", .body = page}, Reply{.type = "", .body = "hello"},
        Reply{.type = "application/json", .body = "{}"},
        Reply{.status = 404, .type = "text/html", .body = page},
        Reply{.status = 404, .type = "application/json", .body = "{\"detail\":\"Not Found\"}"},
        Reply{.status = 204, .type = ""},
        Reply{.status = 404, .type = "application/problem+json", .body = "[]"}}) {
    const Error error = refused(reply);
    CHECK(error.kind == ErrorKind::protocol);
    CHECK_MESSAGE(has(error.message, "https://example.com/site is not a stoka server"),
                  error.message);
  }
  CHECK(has(refused({.status = 301, .type = "text/html"}).message, "redirects to another address"));
  CHECK(refused({.status = 502, .type = "text/html"}).kind == ErrorKind::unavailable);
}

TEST_CASE("the text of a refusal is shortened and cleaned") {
  const Error error = refused(problem(
      400, Error(ErrorKind::usage, std::string(5000, 'w') + "\n\x1b[2J", "do\r\nthis \x1b[31m")));
  CHECK(error.message.size() <= 300);
  CHECK(error.hint.find_first_of("\r\n\x1b") == std::string::npos);
  Reply cut = problem(400, Error(ErrorKind::usage, std::string(1 << 20, 'w')));
  CHECK(refused(cut).kind == ErrorKind::protocol);  // no whole JSON within what is read
}

TEST_CASE("discover reads recommendations with and without framing") {
  Json item = Json::parse(data_json(CiteEvent{cited()}));
  item["framing"] = nullptr;
  Json framed = item;
  framed["framing"] = "read this";
  const Json body = {{"recommendations", {item, framed}}, {"confidence", "adjacent"}, {"new", 1}};
  ScriptedSite site(Reply{.body = body.dump()});
  pipeline::DiscoverRequest request;
  request.page.page = "/x";
  request.limit = 2;
  const auto found = remote(site).discover(request);
  REQUIRE_MESSAGE(found, found.error().message);
  CHECK(pipeline::to_json(*found).find("read this") != std::string::npos);
  REQUIRE(found->items.size() == 2);
  CHECK(!found->items[0].framing);
  CHECK(found->items[1].framing == "read this");
  CHECK(found->confidence == Confidence::adjacent);
  CHECK(found->items[0].citation.title == "Title");
  CHECK(found->items[0].citation.url == "https://example.com/a#:~:text=b");
  CHECK(found->items[0].citation.kind == CiteKind::product);
  CHECK(Json::parse(site.requests()[0].body) == Json{{"limit", 2}, {"page", "/x"}});
}

TEST_CASE("discover refuses malformed recommendations and keeps at most ten") {
  const Json item = Json::parse(data_json(CiteEvent{cited()}));
  const auto discover = [&](const std::string& body) {
    ScriptedSite site(Reply{.body = body});
    return remote(site).discover({});
  };
  for (const std::string body :
       {"", "[]", "{}", "null", "{\"recommendations\":{},\"confidence\":\"direct\"}",
        "{\"recommendations\":[5],\"confidence\":\"direct\"}",
        "{\"recommendations\":[{}],\"confidence\":\"direct\"}",
        "{\"recommendations\":[],\"confidence\":\"sure\"}",
        "{\"recommendations\":[],\"confidence\":5}", "{\"recommendations\":[]}"}) {
    CAPTURE(body);
    const auto found = discover(body);
    REQUIRE(!found);
    CHECK(found.error().kind == ErrorKind::protocol);
  }
  const Json many = {{"recommendations", std::vector<Json>(5000, item)}, {"confidence", "direct"}};
  const auto found = discover(many.dump());
  REQUIRE(found);
  CHECK(found->items.size() == 10);
}

TEST_CASE("context encodes the page and reads the ambient line") {
  const auto context = [](const Json& body) {
    ScriptedSite site(Reply{.body = body.dump()});
    auto out = remote(site).context("/a b?c&d=ü");
    CHECK(site.requests()[0].url ==
          "https://example.com/site/api/stoka/context?page=/a%20b%3Fc%26d%3D%C3%BC");
    CHECK(site.requests()[0].method == "GET");
    return out;
  };
  const auto both =
      context({{"hint", "look"}, {"cite", Json::parse(data_json(CiteEvent{cited()}))}});
  REQUIRE(both);
  CHECK(both->hint == "look");
  CHECK(both->citation->slug == cited().slug);
  const auto none = context({{"hint", nullptr}, {"cite", nullptr}});
  REQUIRE(none);
  CHECK(none->hint.empty());
  CHECK(!none->citation);
  for (const Json& body : {Json::object(), Json::array(), Json{{"hint", 5}, {"cite", nullptr}},
                           Json{{"hint", nullptr}, {"cite", 5}}, Json{{"hint", "x"}}}) {
    CAPTURE(body.dump());
    const auto wrong = context(body);
    REQUIRE(!wrong);
    CHECK(wrong.error().kind == ErrorKind::protocol);
  }
}

}  // namespace site_client_test
