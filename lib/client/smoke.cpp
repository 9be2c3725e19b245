#include "client/smoke.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/url.h"
#include "client/event_reader.h"
#include "pipeline/catalog.h"
#include "text/normalize.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace stoka::client {
namespace {

constexpr std::string_view kChat = "/api/stoka/chat";
// The canned question and replies of the sample site.
constexpr const char* kIdentityQuestion = "what is this?";
constexpr std::string_view kIdentityReply =
    "a terminal. i know everything published here. ask something or don't.";
constexpr std::string_view kOfftopicReply = "wrong terminal.";
constexpr double kMinScore = 0.60;
constexpr size_t kMaxTokens = 40;
constexpr double kMaxFirstMs = 150;  // the most milliseconds a canned reply may take
constexpr double kMaxCachedMs = 50;  // the most milliseconds a cached hint may take
constexpr int kAttempts = 3;         // tries of a request; the fastest counts
constexpr size_t kVisitors = 10;
constexpr size_t kMinVisitors = 2;
constexpr int kReservedRequests = 5;  // the number of requests of the rate limit to leave unused
constexpr size_t kMaxShown = 80;      // the most bytes of an answer shown in a detail

struct Verdict {
  SmokeResult::Status how;
  std::string detail;
  bool ok() const { return how == SmokeResult::Status::ok; }
};

Verdict ok(std::string detail = {}) { return {SmokeResult::Status::ok, std::move(detail)}; }
Verdict bad(std::string why) { return {SmokeResult::Status::failed, std::move(why)}; }
Verdict skipped(std::string why) { return {SmokeResult::Status::skipped, std::move(why)}; }

class Timer {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The result of one question.
struct ChatResult {
  std::string error;  // what went wrong; empty if the answer is complete, from ready to done
  bool rate_limited = false;  // the rate limit refused the request; that does not fail a check
  std::optional<int> requests_left;
  ReadyEvent ready;
  DoneEvent done;
  std::string text;
  std::vector<Citation> cites;
  double ms = 0;

  const Citation* cite(std::string_view slug) const {
    const auto found = std::find_if(cites.begin(), cites.end(),
                                    [&](const Citation& one) { return one.slug == slug; });
    return found == cites.end() ? nullptr : &*found;
  }
  std::string slugs() const {
    std::string out;
    for (const Citation& one : cites) out += (out.empty() ? "" : ", ") + text::one_line(one.slug);
    return out.empty() ? "nothing" : out;
  }
  std::string route() const { return std::string(to_string(ready.route)); }
};

std::string message_of(const Error& error) {
  return error.message + (error.hint.empty() ? "" : ". " + error.hint);
}

void read_events(const net::HttpResponse& answer, ChatResult& out) {
  EventReader reader([&](const Event& event) {
    if (const auto* ready = std::get_if<ReadyEvent>(&event)) out.ready = *ready;
    if (const auto* token = std::get_if<TokenEvent>(&event)) out.text += token->text;
    if (const auto* cite = std::get_if<CiteEvent>(&event)) out.cites.push_back(cite->citation);
    if (const auto* done = std::get_if<DoneEvent>(&event)) out.done = *done;
    if (const auto* error = std::get_if<ErrorEvent>(&event))
      out.error = "error event: " + text::one_line(error->message);
  });
  Result<> result = reader.push(answer.body);
  if (result) result = reader.end();
  if (!result) out.error = "not the events of an answer: " + result.error().message;
}

ChatResult ask(const SiteClient& site, const pipeline::TurnRequest& request,
               const std::stop_token& stop) {
  ChatResult out;
  const Timer timer;
  const auto answer = site.post(kChat, SiteClient::chat_body(request), stop);
  out.ms = timer.ms();
  if (!answer) {
    out.error = message_of(answer.error());
  } else if (answer->status == 200 && answer->content_type == "text/event-stream") {
    read_events(*answer, out);
  } else {
    out.rate_limited = answer->status == 429;
    const std::string why = message_of(site.refusal(*answer));
    out.error = out.rate_limited ? "the rate limit of this address is reached: " + why
                                 : fmt::format("HTTP {}: {}", answer->status, why);
  }
  if (answer) out.requests_left = answer->rate_limit_remaining;
  return out;
}

Verdict bad(const ChatResult& result) {
  return {result.rate_limited ? SmokeResult::Status::skipped : SmokeResult::Status::failed,
          result.error};
}
// Returns the verdict for an error. If the site is busy, the check is skipped; otherwise it fails.
Verdict bad(const Error& error) {
  return {
      error.kind == ErrorKind::busy ? SmokeResult::Status::skipped : SmokeResult::Status::failed,
      message_of(error)};
}

struct SmokeRun {
  const SiteClient& site;
  const SmokeQuestions& questions;
  const SmokeFixture* fixture;
  std::stop_token stop;
  ReadyEvent first = {};                         // the ready event of the answer in check 2
  SmokeQuestions::Question cited_question = {};  // the question of check 2 that was cited
  std::optional<int> requests_left = {};         // nullopt: the site does not say, or has no limit
  std::set<std::string> cited = {};              // all slugs that were cited in this run

  // Returns how many of the wanted requests can be made without using up the client's rate limit.
  size_t affordable(size_t wanted) const {
    if (!requests_left) return wanted;
    return std::min(wanted, static_cast<size_t>(std::max(*requests_left - kReservedRequests, 0)));
  }

  ChatResult ask(const std::string& query, const ReadyEvent& session = {}) {
    if (affordable(1) == 0) {
      ChatResult out;
      out.rate_limited = true;
      out.error = fmt::format(
          "this address has {} requests left, which are kept; try again later, or "
          "set STOKA_CHAT_LIMIT=0 on the server",
          *requests_left);
      return out;
    }
    pipeline::TurnRequest request;
    request.query = query;
    request.session_id = session.session_id;
    request.visitor_id = session.visitor_id;
    ChatResult out = client::ask(site, request, stop);
    if (out.requests_left) requests_left = out.requests_left;
    for (const Citation& one : out.cites) cited.insert(one.slug);
    return out;
  }

  // Asks a question, and repeats it while only the latency of the answer is wrong.
  template <class Check>
  Verdict ask_within_limit(const std::string& query, const Check& check) {
    const double max_ms = kMaxFirstMs + questions.network_ms;
    double fastest = 0;
    for (int i = 0; i < kAttempts; ++i) {
      const ChatResult result = ask(query);
      if (!result.error.empty()) return bad(result);
      Verdict verdict = check(result);
      fastest = i == 0 ? result.ms : std::min(fastest, result.ms);
      if (!verdict.ok()) return verdict;
      if (result.ms <= max_ms) return ok(fmt::format("{}, {:.1f} ms", verdict.detail, result.ms));
    }
    return bad(fmt::format("takes {:.0f} ms, the limit is {:.0f}", fastest, max_ms));
  }

  // Whether the page is in the index of the site.
  Result<bool> has_page(const std::string& slug) const {
    STOKA_ASSIGN(const net::HttpResponse answer, site.get(SiteClient::open_path(slug), stop));
    if (answer.status == 302) return true;
    const Error refusal = site.refusal(answer);
    if (answer.status != 404) return fail(refusal);
    return refusal.message == pipeline::kNoAddress;
  }
  // Returns what is wrong with the slugs, or nullopt if all of them are in the index.
  template <class Slugs>
  std::optional<std::string> find_missing(const Slugs& slugs) const {
    for (const std::string& slug : slugs) {
      const auto page = has_page(slug);
      if (!page) return message_of(page.error());
      if (!*page) return fmt::format("cites {}, which is not in the index", text::one_line(slug));
    }
    return std::nullopt;
  }
};

std::string shown(const std::string& text) {
  const std::string line = text::collapse_whitespace(text::one_line(text));
  if (line.size() <= kMaxShown) return line;
  return line.substr(0, text::floor_char_boundary(line, kMaxShown)) + "…";
}

Verdict identity(SmokeRun& run) {
  const bool sample = run.questions.sample;
  return run.ask_within_limit(kIdentityQuestion, [sample](const ChatResult& result) {
    const size_t tokens = text::estimate_tokens(result.text);
    if (result.ready.route != Route::meta) return bad("route is " + result.route());
    if (!result.cites.empty()) return bad("cites " + result.slugs());
    if (tokens == 0 || tokens > kMaxTokens) return bad(fmt::format("is {} tokens long", tokens));
    if (sample && result.text != kIdentityReply) return bad("says: " + shown(result.text));
    return ok(fmt::format("{} tokens", tokens));
  });
}

// Returns what is wrong with the answer to a question about a page of the site, or nullopt.
std::optional<std::string> not_cited(const ChatResult& result,
                                     const SmokeQuestions::Question& about) {
  if (result.ready.route != Route::fresh) return "route is " + result.route();
  if (result.cites.empty()) return "cites nothing";
  const Citation* const cite = about.slug.empty() ? &result.cites.front() : result.cite(about.slug);
  if (cite == nullptr)
    return fmt::format("cites {} instead of {}", result.slugs(), text::one_line(about.slug));
  if (cite->score < kMinScore) return fmt::format("score is {:.2f}", cite->score);
  return std::nullopt;
}

Verdict citation(SmokeRun& run) {
  Verdict out = bad(run.questions.no_question_reason);
  for (const SmokeQuestions::Question& about : run.questions.cited_questions) {
    const ChatResult result = run.ask(about.query);
    if (!result.error.empty()) return bad(result);
    const auto wrong = not_cited(result, about);
    if (!wrong) {
      const std::string& slug = about.slug.empty() ? result.cites.front().slug : about.slug;
      run.first = result.ready;
      run.cited_question = {about.query, slug};
      return ok(fmt::format("{}: score {:.2f}, {:.1f} ms", text::one_line(slug),
                            result.cite(slug)->score, result.ms));
    }
    out =
        bad(run.questions.sample ? *wrong : fmt::format("\"{}\": {}", shown(about.query), *wrong));
  }
  return out;
}

Verdict memory(SmokeRun& run) {
  const SmokeQuestions::Question& about = run.cited_question;
  if (about.query.empty()) return skipped("check 2 got no citation");
  const ChatResult result = run.ask(about.query, run.first);
  if (!result.error.empty()) return bad(result);
  if (result.ready.session_id != run.first.session_id)
    return bad("the answer is in another session");
  if (result.cite(about.slug) != nullptr)
    return bad(fmt::format("cites {} again", text::one_line(about.slug)));
  return ok("cites " + result.slugs());
}

Verdict refusal(SmokeRun& run) {
  const bool sample = run.questions.sample;
  Verdict out = bad("nothing to ask");
  for (const std::string& query : run.questions.offtopic) {
    bool on_topic = false;
    out = run.ask_within_limit(query, [&](const ChatResult& result) {
      on_topic = result.ready.route != Route::offtopic;
      if (on_topic) return bad("route is " + result.route());
      if (!result.cites.empty()) return bad("cites " + result.slugs());
      if (sample && result.text != kOfftopicReply) return bad("says: " + shown(result.text));
      return ok(shown(result.text));
    });
    // The site may have a page about this question's subject, so the next question is tried.
    if (!on_topic) break;
  }
  return out;
}

// Checks the answer to a question that the site should have nothing about.
Verdict check_not_invented(SmokeRun& run, const ChatResult& result) {
  if (result.ready.route == Route::nothing)
    return result.cites.empty() ? ok("void") : bad("void, and cites " + result.slugs());
  if (result.done.confidence != Confidence::adjacent)
    return bad(fmt::format("confidence is {}", to_string(result.done.confidence)));
  std::vector<std::string> slugs;
  for (const Citation& one : result.cites) slugs.push_back(one.slug);
  if (auto wrong = run.find_missing(slugs)) return bad(*wrong);
  return ok("adjacent, cites " + result.slugs());
}

Verdict honesty(SmokeRun& run) {
  Verdict out = bad("nothing to ask");
  for (const std::string& query : run.questions.unanswerable) {
    const ChatResult result = run.ask(query);
    if (!result.error.empty()) return bad(result);
    out = check_not_invented(run, result);
    // The site may have a page about this question's subject, so the next question is tried.
    if (result.done.confidence != Confidence::direct) break;
    if (!run.questions.sample)
      out.detail += "; give a question that the site cannot answer with --void";
  }
  return out;
}

Verdict recommendations(SmokeRun& run) {
  pipeline::DiscoverRequest request;
  request.page.page = run.questions.page;
  const std::string page = page_slug(request.page.page);
  const auto found = run.site.discover(request, run.stop);
  if (!found) return bad(found.error());
  std::string slugs;
  for (const pipeline::Recommendation& item : found->items) {
    if (item.citation.slug == page) return bad("recommends the page itself");
    run.cited.insert(item.citation.slug);
    slugs += (slugs.empty() ? "" : ", ") + text::one_line(item.citation.slug);
  }
  if (found->items.size() > 3 || found->items.size() < run.questions.min_recommendations)
    return bad(fmt::format("{} recommendations{}{}", found->items.size(), slugs.empty() ? "" : ": ",
                           slugs));
  return ok(slugs.empty() ? "it is the only page" : slugs);
}

Verdict hint(SmokeRun& run) {
  const double max_ms = kMaxCachedMs + run.questions.network_ms;
  double first = 0, second = 0;
  for (int i = 0; i <= kAttempts; ++i) {
    const Timer timer;
    const auto ambient = run.site.context("/", run.stop);
    const double ms = timer.ms();
    if (!ambient) return bad(ambient.error());
    if (ambient->hint.empty()) return bad("no hint");
    if (i == 0) first = ms;
    if (i > 0) second = i == 1 ? ms : std::min(second, ms);
    if (i > 0 && second <= max_ms)
      return ok(fmt::format("{:.1f} ms, then {:.1f} ms", first, second));
  }
  return bad(fmt::format("the second call takes {:.0f} ms, the limit is {:.0f}", second, max_ms));
}

constexpr const char* kNeedsOwnServer = "needs a server of its own: stoka smoke without --url";

Verdict no_reranker(SmokeRun& run) {
  if (run.fixture == nullptr) return skipped(kNeedsOwnServer);
  pipeline::TurnRequest request;
  request.query = run.questions.cited_questions.front().query;
  const ChatResult result = ask(run.fixture->without_reranker, request, run.stop);
  if (!result.error.empty()) return bad(result.error);
  if (result.cites.empty()) return bad("cites nothing");
  if (!run.fixture->reranker_warned()) return bad("no warning was logged");
  return ok(fmt::format("cites {}, and warns", result.slugs()));
}

Verdict no_embedder(SmokeRun& run) {
  if (run.fixture == nullptr) return skipped(kNeedsOwnServer);
  pipeline::TurnRequest request;
  request.query = run.questions.cited_questions.front().query;
  const auto answer =
      run.fixture->without_embedder.post(kChat, SiteClient::chat_body(request), run.stop);
  if (!answer) return bad(message_of(answer.error()));
  if (answer->status != 503) return bad(fmt::format("HTTP {}, not 503", answer->status));
  if (answer->content_type != "application/problem+json")
    return bad("a 503 with content type " + answer->content_type);
  return ok("503: " + message_of(run.fixture->without_embedder.refusal(*answer)));
}

// The questions that each visitor asks. A question that is repeated at once is in the same session.
std::vector<std::string> concurrent_questions(const SmokeRun& run) {
  const SmokeQuestions& questions = run.questions;
  // Without a fixture the site is another operator's, and all visitors ask it the same question.
  if (run.fixture == nullptr) {
    if (!run.cited_question.query.empty()) return {run.cited_question.query};
    return {questions.cited_questions.empty() ? kIdentityQuestion
                                              : questions.cited_questions.front().query};
  }
  const std::string& about = questions.cited_questions.front().query;
  return {kIdentityQuestion, about, about, questions.offtopic.front(),
          questions.unanswerable.front()};
}

Verdict concurrency(SmokeRun& run) {
  const std::vector<std::string> queries = concurrent_questions(run);
  const size_t visitors = run.affordable(kVisitors * queries.size()) / queries.size();
  if (visitors < kMinVisitors)
    return skipped(
        fmt::format("this address has {} requests left, which are kept", *run.requests_left));
  std::mutex mutex;  // guards the variables declared below
  std::map<std::string, size_t> wrong;
  size_t answered = 0;
  size_t limited = 0;
  const auto visit = [&] {
    SmokeRun own{run.site, run.questions, nullptr, run.stop};
    ReadyEvent session;
    std::string before;
    for (const std::string& query : queries) {
      const ChatResult result = own.ask(query, query == before ? session : ReadyEvent());
      session = result.ready;
      before = query;
      const std::lock_guard lock(mutex);
      if (result.error.empty())
        ++answered;
      else if (result.rate_limited)
        ++limited;
      else
        ++wrong[result.error];
    }
    const std::lock_guard lock(mutex);
    run.cited.merge(own.cited);
  };
  const Timer timer;
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < visitors; ++i) threads.emplace_back(visit);
  }
  const double ms = timer.ms();
  const auto most = std::max_element(wrong.begin(), wrong.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  if (most != wrong.end()) return bad(fmt::format("{} times: {}", most->second, most->first));
  if (answered == 0) return skipped("the rate limit of this address is reached");
  return ok(fmt::format("{} of {} answered in {:.0f} ms{}", answered, answered + limited, ms,
                        limited > 0 ? ", the rest refused by the rate limit" : ""));
}

Verdict real_slugs(SmokeRun& run) {
  if (run.fixture == nullptr) {
    if (run.cited.empty()) return skipped("nothing was cited");
    if (auto wrong = run.find_missing(run.cited)) return bad(*wrong);
    return ok(fmt::format("{} slugs that were cited in this run", run.cited.size()));
  }
  const auto slugs = run.fixture->store.all_shown_slugs();
  if (!slugs) return bad(message_of(slugs.error()));
  const auto documents = run.fixture->store.documents();
  if (!documents) return bad(message_of(documents.error()));
  if (slugs->empty()) return bad("no session has a citation");
  std::set<std::string> indexed;
  for (const store::DocumentInfo& info : *documents) indexed.insert(info.document.slug);
  for (const std::string& slug : *slugs)
    if (!indexed.contains(slug))
      return bad(fmt::format("{} is not in the index", text::one_line(slug)));
  return ok(fmt::format("{} slugs of all sessions", slugs->size()));
}

struct Row {
  const char* name;
  Verdict (*check)(SmokeRun& run);
};

constexpr Row kRows[] = {
    {"what is this? gets the canned reply", identity},
    {"a question about a page cites it", citation},
    {"the session does not repeat a citation", memory},
    {"an off-topic question is refused", refusal},
    {"an unknown topic is not made up", honesty},
    {"discover recommends other pages", recommendations},
    {"context has a hint and caches it", hint},
    {"without reranker it still cites", no_reranker},
    {"without embedder chat is a 503", no_embedder},
    {"concurrent visitors are all answered", concurrency},
    {"every slug shown is in the index", real_slugs},
};

}  // namespace

std::vector<SmokeResult> run_smoke_checks(const SiteClient& site, const SmokeQuestions& questions,
                                          const SmokeFixture* fixture,
                                          const std::function<void(const SmokeResult&)>& on_result,
                                          std::stop_token stop) {
  SmokeRun run{site, questions, fixture, std::move(stop)};
  std::vector<SmokeResult> out;
  for (const Row& row : kRows) {
    Verdict verdict = row.check(run);
    if (run.stop.stop_requested()) break;
    out.push_back(
        {static_cast<int>(out.size()) + 1, row.name, verdict.how, text::one_line(verdict.detail)});
    on_result(out.back());
  }
  return out;
}

}  // namespace stoka::client
