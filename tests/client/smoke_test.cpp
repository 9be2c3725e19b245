#include "client/smoke.h"

#include <doctest/doctest.h>

#include <atomic>

#include "pipeline/catalog.h"
#include "scripted_site.h"
#include "serve/event_stream.h"
#include "serve/http.h"
#include "support/json.h"
#include "support/temp_store.h"

namespace smoke_test {

using namespace stoka;
using client::SmokeResult;
using testing::Reply;
using testing::ScriptedSite;
using Json = nlohmann::json;
using How = SmokeResult::Status;

namespace {

constexpr const char* kSlug = "philosophy-bounded-execution";
constexpr const char* kSession = "11111111-1111-4111-8111-111111111111";

// An answer of the sample site, which a test may alter.
struct Answer {
  std::string session = kSession;
  Route route = Route::fresh;
  std::string text = "read this.";
  std::vector<std::string> slugs = {};
  double score = 0.9;
  Confidence confidence = Confidence::direct;
  std::string error = {};

  Reply reply() const {
    std::string body;
    serve::append_event(body, ReadyEvent{session, "v", route});
    serve::append_event(body, TokenEvent{text});
    for (const std::string& slug : slugs)
      serve::append_event(body, CiteEvent{{slug, "T", "q", "blog", "1 min", "", "", score}});
    if (error.empty())
      serve::append_event(body, DoneEvent{1, confidence, 1});
    else
      serve::append_event(body, ErrorEvent{error, true});
    return {.type = "text/event-stream", .body = body};
  }
};

struct Site {
  client::SmokeQuestions questions = client::sample_questions();
  std::function<void(const std::string& query, bool again, Answer&)> alter = [](auto&, bool,
                                                                                auto&) {};
  std::vector<std::string> recommended = {"a", "b", "c"};
  std::string hint = "look around";
  std::vector<std::string> missing = {};  // pages
  size_t max_answers = 1000;              // the rate limit
  bool sends_remaining = false;           // whether replies have RateLimit-Remaining
  mutable std::atomic<size_t> answers = 0;

  std::vector<SmokeResult> check(const client::SmokeFixture* fixture = nullptr) const {
    answers = 0;
    ScriptedSite site([&](const net::HttpRequest& request) { return answer(request); });
    auto remote = client::SiteClient::make(site, "http://example.com");
    size_t results = 0;
    auto out = client::run_smoke_checks(*remote, questions, fixture,
                                        [&](const SmokeResult&) { ++results; });
    CHECK(results == out.size());
    return out;
  }
  client::SmokeQuestions find(const client::SmokeOptions& options) const {
    ScriptedSite site([&](const net::HttpRequest& request) { return answer(request); });
    return client::find_questions(*client::SiteClient::make(site, "http://example.com"), options,
                                  {});
  }

 private:
  Reply answer(const net::HttpRequest& request) const {
    const auto asks = [&](const char* path) { return request.url.find(path) != request.url.npos; };
    if (asks("/open?slug=")) {
      for (const std::string& slug : missing)
        if (request.url.ends_with("=" + slug)) return {.status = 404};
      if (request.url.ends_with("=homeless"))
        return {.status = 404,
                .type = "application/problem+json",
                .body = serve::problem_details_json(
                    404, Error(ErrorKind::not_found, pipeline::kNoAddress), "", "id")};
      return {.status = 302, .type = ""};
    }
    if (asks("/healthz")) return {.body = "{}"};
    if (asks("/context")) return {.body = Json{{"hint", hint}, {"cite", nullptr}}.dump()};
    if (asks("/discover")) {
      Json items = Json::array();
      for (const std::string& slug : recommended)
        items.push_back(
            Json::parse(data_json(CiteEvent{{slug, "T", "q", "blog", "1 min", "", "", 0.5}})));
      return {.body = Json{{"recommendations", items}, {"confidence", "direct"}}.dump()};
    }
    const Json body = Json::parse(request.body);
    const size_t count = ++answers;
    if (count > max_answers)
      return {
          .status = 429,
          .type = "application/problem+json",
          .body = serve::problem_details_json(429, Error(ErrorKind::busy, "too many"), "", "id"),
          .retry_after = std::chrono::seconds(33)};
    Reply out = make_answer(body["query"].get<std::string>(), body.contains("session_id")).reply();
    if (sends_remaining) out.requests_left = static_cast<int>(max_answers - count);
    return out;
  }

  Answer make_answer(const std::string& query, bool again) const {
    Answer out;
    if (query == "what is this?") {
      out.route = Route::meta;
      out.text = "a terminal. i know everything published here. ask something or don't.";
    } else if (query == "best javascript framework?") {
      out.route = Route::offtopic;
      out.text = "wrong terminal.";
    } else if (query == "quantum gravity research" || query == "sourdough") {
      out.route = Route::nothing;
      out.confidence = Confidence::nothing;
    } else if (!again) {
      out.slugs = {kSlug};
    }
    alter(query, again, out);
    return out;
  }
};

// The numbers of the checks with that status.
std::vector<int> numbers(const std::vector<SmokeResult>& all, How how) {
  std::vector<int> out;
  for (const SmokeResult& one : all)
    if (one.status == how) out.push_back(one.number);
  return out;
}

void check_failed(const std::vector<SmokeResult>& all, int n, std::string_view about) {
  REQUIRE(all.size() == 11);
  const SmokeResult& one = all[static_cast<size_t>(n - 1)];
  CHECK(one.number == n);
  CHECK(one.status == How::failed);
  CHECK_MESSAGE(one.detail.find(about) != std::string::npos, one.detail);
}

}  // namespace

TEST_CASE("a correct site passes all checks that need only its URL") {
  const auto all = Site().check();
  REQUIRE(all.size() == 11);
  for (const SmokeResult& one : all) {
    CAPTURE(one.number);
    const bool own = one.number == 8 || one.number == 9;
    CHECK_MESSAGE(one.status == (own ? How::skipped : How::ok), one.detail);
    CHECK(!one.name.empty());
    CHECK(!one.detail.empty());
  }
}

TEST_CASE("each defect of an answer fails its check, and is named") {
  struct Case {
    int n;
    const char* query;
    bool again;
    std::function<void(Answer&)> alter;
    const char* about;
  };
  const char* const what = "what is this?";
  const char* const bounded = "tell me about bounded execution";
  const char* const best = "best javascript framework?";
  const char* const quantum = "quantum gravity research";
  const std::vector<Case> cases = {
      {1, what, false, [](Answer& a) { a.route = Route::fresh; }, "route is new"},
      {1, what, false, [](Answer& a) { a.slugs = {"x"}; }, "cites x"},
      {1, what, false, [](Answer& a) { a.text = "a terminal."; }, "says: a terminal."},
      {1, what, false, [](Answer& a) { a.text += std::string(400, 'w'); }, "tokens"},
      {2, bounded, false, [](Answer& a) { a.route = Route::nothing; }, "route is void"},
      {2, bounded, false,
       [](Answer& a) {
         a.slugs = {"x", "y"};
       },
       "cites x, y instead of"},
      {2, bounded, false, [](Answer& a) { a.score = 0.59; }, "0.59"},
      {2, bounded, false, [](Answer& a) { a.slugs.clear(); }, "cites nothing"},
      {3, bounded, true, [](Answer& a) { a.slugs = {kSlug}; }, "again"},
      {3, bounded, true, [](Answer& a) { a.session = "other"; }, "another session"},
      {4, best, false, [](Answer& a) { a.text = "Wrong terminal!"; }, "says: Wrong terminal!"},
      {4, best, false, [](Answer& a) { a.route = Route::meta; }, "route is meta"},
      {5, quantum, false, [](Answer& a) { a.slugs = {"x"}; }, "void, and cites x"},
      {5, quantum, false, [](Answer& a) { a.route = Route::fresh; }, "confidence is nothing"},
      {5, quantum, false,
       [](Answer& a) {
         a.route = Route::fresh;
         a.confidence = Confidence::adjacent;
         a.slugs = {"gone"};
       },
       "gone, which is not in the index"},
      {10, bounded, false, [](Answer& a) { a.error = "it broke"; }, "10 times: error event"},
      {11, bounded, true, [](Answer& a) { a.slugs = {"gone"}; }, "gone, which is not in the index"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.about));
    Site site;
    site.missing = {"gone"};
    site.alter = [&](const std::string& query, bool again, Answer& answer) {
      if (query == c.query && again == c.again) c.alter(answer);
    };
    check_failed(site.check(), c.n, c.about);
  }
}

TEST_CASE("a page without an address counts as indexed") {
  Site site;
  site.recommended = {"homeless", "b", "c"};
  CHECK(numbers(site.check(), How::failed).empty());
  site.missing = {"b"};
  check_failed(site.check(), 11, "b, which is not in the index");
}

TEST_CASE("a missing hint and wrong recommendations fail their checks") {
  Site site;
  site.hint = "";
  site.recommended = {"a", "b"};
  auto all = site.check();
  check_failed(all, 6, "2 recommendations: a, b");
  check_failed(all, 7, "no hint");
  site.recommended = {"a", kSlug, "c"};
  check_failed(site.check(), 6, "the page itself");
}

TEST_CASE("a rate limit skips checks and fails none") {
  Site site;
  site.max_answers = 0;
  auto all = site.check();
  CHECK(numbers(all, How::failed).empty());
  CHECK(numbers(all, How::skipped) == std::vector<int>{1, 2, 3, 4, 5, 8, 9, 10});
  CHECK(all[0].detail.find("rate limit") != std::string::npos);
  CHECK(all[0].detail.find("try again in 33 s") != std::string::npos);
  CHECK(all[10].status == How::ok);  // what was recommended
  site.max_answers = 11;
  all = site.check();
  CHECK(numbers(all, How::failed).empty());
  CHECK(all[9].detail.find("6 of 10") != std::string::npos);
}

TEST_CASE("the checks do not use up the rate limit") {
  Site site;
  site.sends_remaining = true;
  for (const size_t granted : {1u, 5u, 6u, 9u, 11u, 17u, 30u, 1000u}) {
    CAPTURE(granted);
    site.max_answers = granted;
    const auto all = site.check();
    CHECK(numbers(all, How::failed).empty());
    // The first question tells how many requests remain.
    CHECK(site.answers <= std::max<size_t>(granted, 6) - 5);
    CHECK((all[9].status == How::ok) == (granted >= 12));
  }
  CHECK(site.answers == 15);
}

TEST_CASE("on another site the questions are about its own pages") {
  Site site;
  site.recommended = {"rye-bread", "starters"};
  site.questions = site.find({});
  REQUIRE(site.questions.cited_questions.size() == 2);
  CHECK(site.questions.cited_questions[0].query == "tell me about T");
  CHECK(site.questions.cited_questions[0].slug == "rye-bread");
  CHECK(site.questions.page == "/rye-bread");
  // The first page is not cited, the second is.
  site.alter = [](const std::string&, bool again, Answer& answer) {
    if (answer.route == Route::fresh && !again) answer.slugs = {"starters"};
    if (answer.route == Route::meta) answer.text = "bread. what else?";
    if (answer.route == Route::offtopic) answer.text = "no.";
  };
  site.recommended = {"starters"};  // beside rye-bread
  const auto all = site.check();
  for (const SmokeResult& one : all)
    CHECK_MESSAGE(one.status == (one.number == 8 || one.number == 9 ? How::skipped : How::ok),
                  one.detail);
  CHECK(all[1].detail.starts_with("starters: score"));
}

TEST_CASE("questions can be chosen by options") {
  Site site;
  site.recommended = {"rye-bread"};
  const auto asked =
      site.find({.question = "which flour", .page = "/bread/", .unanswerable = "sourdough"});
  REQUIRE(asked.cited_questions.size() == 1);
  CHECK(asked.cited_questions[0].query == "which flour");
  CHECK(asked.cited_questions[0].slug.empty());
  CHECK(asked.page == "/bread/");
  CHECK(asked.unanswerable == std::vector<std::string>{"sourdough"});
  site.questions = asked;
  site.recommended = {};
  CHECK(numbers(site.check(), How::failed).empty());
  const auto cited = site.find({.expected_slug = "rye-bread"});
  CHECK(cited.cited_questions[0].query == "tell me about rye bread");
  CHECK(cited.cited_questions[0].slug == "rye-bread");
}

TEST_CASE("a site without recommendations fails the check, and the detail says what to do") {
  Site site;
  site.recommended = {};
  site.questions = site.find({});
  check_failed(site.check(), 2, "give a question with --ask");
}

TEST_CASE("a site with a page about an example question is asked another one") {
  Site site;
  site.questions = site.find({});
  site.alter = [](const std::string& query, bool, Answer& answer) {
    if (query == "best javascript framework?") answer.route = Route::fresh;
    if (query.starts_with("what will the weather")) {
      answer.route = Route::offtopic;
      answer.slugs = {};
    }
    if (query == "quantum gravity research") {
      answer = Answer();
      answer.slugs = {"a"};
    }
    if (query.starts_with("zither")) {
      answer.route = Route::nothing;
      answer.confidence = Confidence::nothing;
      answer.slugs = {};
    }
    if (query == "tell me about T") answer.slugs = {"a"};
  };
  auto all = site.check();
  CHECK(all[3].status == How::ok);
  CHECK(all[4].status == How::ok);
  site.alter = [](const std::string&, bool, Answer& answer) {
    answer.route = Route::fresh;
    answer.confidence = Confidence::direct;
  };
  all = site.check();
  check_failed(all, 4, "route is new");
  check_failed(all, 5, "--void");
}

TEST_CASE("text of the site cannot break a line of the report") {
  Site site;
  site.alter = [](const std::string&, bool, Answer& answer) {
    answer.text = "a\nb\x1b[2J?";
    answer.slugs = {"x\ny\x1b[31m"};
  };
  for (const SmokeResult& one : site.check())
    CHECK(one.detail.find_first_of("\n\x1b") == std::string::npos);
}

TEST_CASE("with a fixture the degraded sites and all sessions are checked") {
  testing::TempStore store;
  store.put(kSlug, {"bounds hold when nobody is watching"});
  TurnRecord turn;
  turn.session_id = kSession;
  turn.visitor_id = "22222222-2222-4222-8222-222222222222";
  turn.cited_slugs = {kSlug};
  REQUIRE(store->commit_turn(turn));

  Answer cites;
  cites.slugs = {kSlug};
  ScriptedSite answering(cites.reply());
  Reply refusal{.status = 503, .type = "application/problem+json"};
  refusal.body =
      serve::problem_details_json(503, Error(ErrorKind::unavailable, "no embedder"), "", "id");
  ScriptedSite refusing(refusal);
  const auto no_reranker = client::SiteClient::make(answering, "http://example.com");
  const auto no_embedder = client::SiteClient::make(refusing, "http://example.com");
  bool warned = true;
  const client::SmokeFixture fixture{*no_reranker, *no_embedder, [&] { return warned; }, *store};
  for (const SmokeResult& one : Site().check(&fixture)) {
    CAPTURE(one.number);
    CHECK_MESSAGE(one.status == How::ok, one.detail);
  }

  warned = false;
  turn.cited_slugs = {"made-up"};
  REQUIRE(store->commit_turn(turn));
  const client::SmokeFixture swapped{*no_embedder, *no_reranker, [&] { return warned; }, *store};
  auto all = Site().check(&fixture);
  check_failed(all, 8, "no warning");
  check_failed(all, 11, "made-up");
  all = Site().check(&swapped);
  check_failed(all, 8, "HTTP 503: no embedder");
  check_failed(all, 9, "HTTP 200, not 503");
}

TEST_CASE("after a stop request the remaining results are missing") {
  std::stop_source source;
  ScriptedSite scripted(Answer().reply());
  const auto remote = client::SiteClient::make(scripted, "http://example.com");
  const auto all = client::run_smoke_checks(
      *remote, client::sample_questions(), nullptr,
      [&](const SmokeResult& one) {
        CHECK(one.number == 1);
        source.request_stop();
      },
      source.get_token());
  CHECK(all.size() == 1);
}

}  // namespace smoke_test
