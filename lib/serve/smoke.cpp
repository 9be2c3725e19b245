#include "serve/smoke.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "serve/event_reader.h"
#include "serve/site.h"
#include "session/interests.h"
#include "text/normalize.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace stoka::serve {
namespace {

constexpr std::string_view kChat = "/api/stoka/chat";
// The sample site's words.
constexpr const char* kIdentity = "what is this?";
constexpr std::string_view kTerminal =
    "a terminal. i know everything published here. ask something or don't.";
constexpr std::string_view kWrongTerminal = "wrong terminal.";
constexpr double kLeastScore = 0.60;
constexpr size_t kMostTokens = 40;
constexpr double kQuick = 150;  // ms
constexpr double kCached = 50;  // ms
constexpr int kTries = 3;       // at being quick
constexpr size_t kVisitors = 10;
constexpr size_t kLeastVisitors = 2;
constexpr int kKept = 5;           // requests of a limit that are left to this address
constexpr size_t kMostShown = 80;  // bytes of an answer in a detail

struct Verdict {
  Checked::How how;
  std::string detail;
  bool ok() const { return how == Checked::How::ok; }
};

Verdict ok(std::string detail = {}) { return {Checked::How::ok, std::move(detail)}; }
Verdict bad(std::string why) { return {Checked::How::failed, std::move(why)}; }
Verdict skipped(std::string why) { return {Checked::How::skipped, std::move(why)}; }

class Timer {
 public:
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What came of one question.
struct Said {
  std::string wrong;     // empty: a whole answer, ready first and done last
  bool limited = false;  // by the rate limit, which is no fault of the site
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
  std::string route() const { return std::string(name(ready.route)); }
};

std::string in_words(const Error& error) {
  return error.message + (error.hint.empty() ? "" : ". " + error.hint);
}

void hear(const net::Answer& answer, Said& out) {
  EventReader reader([&](const Event& event) {
    if (const auto* ready = std::get_if<ReadyEvent>(&event)) out.ready = *ready;
    if (const auto* token = std::get_if<TokenEvent>(&event)) out.text += token->text;
    if (const auto* cite = std::get_if<CiteEvent>(&event)) out.cites.push_back(cite->citation);
    if (const auto* done = std::get_if<DoneEvent>(&event)) out.done = *done;
    if (const auto* error = std::get_if<ErrorEvent>(&event))
      out.wrong = "error event: " + text::one_line(error->message);
  });
  Result<> how = reader.push(answer.body);
  if (how) how = reader.end();
  if (!how) out.wrong = "not the events of an answer: " + how.error().message;
}

Said ask(const Remote& site, const pipeline::TurnRequest& request, const std::stop_token& stop) {
  Said out;
  const Timer timer;
  const auto answer = site.post(kChat, Remote::chat_body(request), stop);
  out.ms = timer.ms();
  if (!answer) {
    out.wrong = in_words(answer.error());
  } else if (answer->status == 200 && answer->content_type == "text/event-stream") {
    hear(*answer, out);
  } else {
    out.limited = answer->status == 429;
    const std::string why = in_words(site.refusal(*answer));
    out.wrong = out.limited ? "the rate limit of this address is reached: " + why
                            : fmt::format("HTTP {}: {}", answer->status, why);
  }
  if (answer) out.requests_left = answer->requests_left;
  return out;
}

Verdict bad(const Said& said) {
  return {said.limited ? Checked::How::skipped : Checked::How::failed, said.wrong};
}
// A busy site asks to be asked later.
Verdict bad(const Error& error) {
  return {error.kind == ErrorKind::busy ? Checked::How::skipped : Checked::How::failed,
          in_words(error)};
}

struct Context {
  const Remote& site;
  const SmokeQuestions& questions;
  const SmokeHouse* house;
  std::stop_token stop;
  ReadyEvent first = {};                   // of check 2
  SmokeQuestions::About first_about = {};  // what check 2 had its citation of
  std::optional<int> requests_left = {};   // nothing: the site does not say, or has no limit
  std::set<std::string> cited = {};        // by the site, to anybody here

  // Requests that may be made without using up the limit of this address.
  size_t affordable(size_t wanted) const {
    if (!requests_left) return wanted;
    return std::min(wanted, static_cast<size_t>(std::max(*requests_left - kKept, 0)));
  }

  Said ask(const std::string& query, const ReadyEvent& session = {}) {
    if (affordable(1) == 0) {
      Said out;
      out.limited = true;
      out.wrong = fmt::format(
          "this address has {} requests left, which are not used up; try again later, or "
          "set STOKA_CHAT_LIMIT=0 on the server",
          *requests_left);
      return out;
    }
    pipeline::TurnRequest request;
    request.query = query;
    request.session_id = session.session_id;
    request.visitor_id = session.visitor_id;
    Said out = serve::ask(site, request, stop);
    if (out.requests_left) requests_left = out.requests_left;
    for (const Citation& one : out.cites) cited.insert(one.slug);
    return out;
  }

  // Asked again while only the time is wrong.
  template <class Look>
  Verdict ask_quickly(const std::string& query, const Look& look) {
    const double quick = kQuick + questions.network_ms;
    double quickest = 0;
    for (int i = 0; i < kTries; ++i) {
      const Said said = ask(query);
      if (!said.wrong.empty()) return bad(said);
      Verdict verdict = look(said);
      quickest = i == 0 ? said.ms : std::min(quickest, said.ms);
      if (!verdict.ok()) return verdict;
      if (said.ms <= quick) return ok(fmt::format("{}, {:.1f} ms", verdict.detail, said.ms));
    }
    return bad(fmt::format("takes {:.0f} ms, at most {:.0f} are good", quickest, quick));
  }

  // Whether the site has it in its index.
  Result<bool> has_page(const std::string& slug) const {
    STOKA_ASSIGN(const net::Answer answer, site.get(Remote::open_path(slug), stop));
    if (answer.status == 302) return true;
    const Error refusal = site.refusal(answer);
    if (answer.status != 404) return fail(refusal);
    return refusal.message == kNoAddress;
  }
  // Nothing: all have one.
  template <class Slugs>
  std::optional<std::string> without_page(const Slugs& slugs) const {
    for (const std::string& slug : slugs) {
      const auto page = has_page(slug);
      if (!page) return in_words(page.error());
      if (!*page) return fmt::format("cites {}, which is not there", text::one_line(slug));
    }
    return std::nullopt;
  }
};

std::string shown(const std::string& text) {
  const std::string line = text::squeeze(text::one_line(text));
  if (line.size() <= kMostShown) return line;
  return line.substr(0, text::floor_border(line, kMostShown)) + "…";
}

Verdict identity(Context& context) {
  const bool sample = context.questions.sample;
  return context.ask_quickly(kIdentity, [sample](const Said& said) {
    const size_t tokens = text::estimate_tokens(said.text);
    if (said.ready.route != Route::meta) return bad("route is " + said.route());
    if (!said.cites.empty()) return bad("cites " + said.slugs());
    if (tokens == 0 || tokens > kMostTokens) return bad(fmt::format("is {} tokens long", tokens));
    if (sample && said.text != kTerminal) return bad("says: " + shown(said.text));
    return ok(fmt::format("{} tokens", tokens));
  });
}

// What is wrong with the answer to a question about a page of the site; nothing: nothing is.
std::optional<std::string> not_cited(const Said& said, const SmokeQuestions::About& about) {
  if (said.ready.route != Route::fresh) return "route is " + said.route();
  if (said.cites.empty()) return "cites nothing";
  const Citation* const cite = about.slug.empty() ? &said.cites.front() : said.cite(about.slug);
  if (cite == nullptr)
    return fmt::format("cites {}, and not {}", said.slugs(), text::one_line(about.slug));
  if (cite->score < kLeastScore) return fmt::format("score is {:.2f}", cite->score);
  return std::nullopt;
}

Verdict citation(Context& context) {
  Verdict out = bad(context.questions.trouble);
  for (const SmokeQuestions::About& about : context.questions.about) {
    const Said said = context.ask(about.query);
    if (!said.wrong.empty()) return bad(said);
    const auto wrong = not_cited(said, about);
    if (!wrong) {
      const std::string& slug = about.slug.empty() ? said.cites.front().slug : about.slug;
      context.first = said.ready;
      context.first_about = {about.query, slug};
      return ok(fmt::format("{}: score {:.2f}, {:.1f} ms", text::one_line(slug),
                            said.cite(slug)->score, said.ms));
    }
    out = bad(context.questions.sample ? *wrong
                                       : fmt::format("\"{}\": {}", shown(about.query), *wrong));
  }
  return out;
}

Verdict memory(Context& context) {
  const SmokeQuestions::About& about = context.first_about;
  if (about.query.empty()) return skipped("check 2 was shown nothing");
  const Said said = context.ask(about.query, context.first);
  if (!said.wrong.empty()) return bad(said);
  if (said.ready.session_id != context.first.session_id) return bad("answers in another session");
  if (said.cite(about.slug) != nullptr)
    return bad(fmt::format("cites {} again", text::one_line(about.slug)));
  return ok("cites " + said.slugs());
}

Verdict refusal(Context& context) {
  const bool sample = context.questions.sample;
  Verdict out = bad("nothing to ask");
  for (const std::string& query : context.questions.off) {
    bool on_topic = false;
    out = context.ask_quickly(query, [&](const Said& said) {
      on_topic = said.ready.route != Route::offtopic;
      if (on_topic) return bad("route is " + said.route());
      if (!said.cites.empty()) return bad("cites " + said.slugs());
      if (sample && said.text != kWrongTerminal) return bad("says: " + shown(said.text));
      return ok(shown(said.text));
    });
    // The site may write about that.
    if (!on_topic) break;
  }
  return out;
}

// The verdict on one question that the site should have nothing about.
Verdict not_made_up(Context& context, const Said& said) {
  if (said.ready.route == Route::nothing)
    return said.cites.empty() ? ok("void") : bad("void, and cites " + said.slugs());
  if (said.done.confidence != Confidence::adjacent)
    return bad(fmt::format("confidence is {}", name(said.done.confidence)));
  std::vector<std::string> slugs;
  for (const Citation& one : said.cites) slugs.push_back(one.slug);
  if (auto wrong = context.without_page(slugs)) return bad(*wrong);
  return ok("adjacent, cites " + said.slugs());
}

Verdict honesty(Context& context) {
  Verdict out = bad("nothing to ask");
  for (const std::string& query : context.questions.nothing) {
    const Said said = context.ask(query);
    if (!said.wrong.empty()) return bad(said);
    out = not_made_up(context, said);
    // The site may know about that.
    if (said.done.confidence != Confidence::direct) break;
    if (!context.questions.sample) out.detail += "; name what the site has nothing on with --void";
  }
  return out;
}

Verdict recommendations(Context& context) {
  pipeline::DiscoverRequest request;
  request.page.page = context.questions.page;
  const std::string page = session::page_slug(request.page.page);
  const auto found = context.site.discover(request, context.stop);
  if (!found) return bad(found.error());
  std::string slugs;
  for (const pipeline::Recommendation& item : found->items) {
    if (item.citation.slug == page) return bad("recommends the page itself");
    context.cited.insert(item.citation.slug);
    slugs += (slugs.empty() ? "" : ", ") + text::one_line(item.citation.slug);
  }
  if (found->items.size() > 3 || found->items.size() < context.questions.recommended)
    return bad(fmt::format("{} recommendations{}{}", found->items.size(), slugs.empty() ? "" : ": ",
                           slugs));
  return ok(slugs.empty() ? "it is the only page" : slugs);
}

Verdict hint(Context& context) {
  const double cached = kCached + context.questions.network_ms;
  double first = 0, second = 0;
  for (int i = 0; i <= kTries; ++i) {
    const Timer timer;
    const auto ambient = context.site.context("/", context.stop);
    const double ms = timer.ms();
    if (!ambient) return bad(ambient.error());
    if (ambient->hint.empty()) return bad("no hint");
    if (i == 0) first = ms;
    if (i > 0) second = i == 1 ? ms : std::min(second, ms);
    if (i > 0 && second <= cached)
      return ok(fmt::format("{:.1f} ms, then {:.1f} ms", first, second));
  }
  return bad(
      fmt::format("the second call takes {:.0f} ms, at most {:.0f} are good", second, cached));
}

constexpr const char* kOwn = "needs a server of its own: stoka smoke without --url";

Verdict no_reranker(Context& context) {
  if (context.house == nullptr) return skipped(kOwn);
  pipeline::TurnRequest request;
  request.query = context.questions.about.front().query;
  const Said said = ask(context.house->without_reranker, request, context.stop);
  if (!said.wrong.empty()) return bad(said.wrong);
  if (said.cites.empty()) return bad("cites nothing");
  if (!context.house->reranker_warned()) return bad("no warning was logged");
  return ok(fmt::format("cites {}, and warns", said.slugs()));
}

Verdict no_embedder(Context& context) {
  if (context.house == nullptr) return skipped(kOwn);
  pipeline::TurnRequest request;
  request.query = context.questions.about.front().query;
  const auto answer =
      context.house->without_embedder.post(kChat, Remote::chat_body(request), context.stop);
  if (!answer) return bad(in_words(answer.error()));
  if (answer->status != 503) return bad(fmt::format("HTTP {}, not 503", answer->status));
  if (answer->content_type != "application/problem+json")
    return bad("a 503 of the type " + answer->content_type);
  return ok("503: " + in_words(context.house->without_embedder.refusal(*answer)));
}

// What one of the visitors asks; the second question about a page is in the session of the first.
std::vector<std::string> crowd_questions(const Context& context) {
  const SmokeQuestions& questions = context.questions;
  // Somebody else's site is not asked more than it takes to see that it answers ten at once.
  if (context.house == nullptr) {
    if (!context.first_about.query.empty()) return {context.first_about.query};
    return {questions.about.empty() ? kIdentity : questions.about.front().query};
  }
  const std::string& about = questions.about.front().query;
  return {kIdentity, about, about, questions.off.front(), questions.nothing.front()};
}

Verdict crowd(Context& context) {
  const std::vector<std::string> queries = crowd_questions(context);
  const size_t visitors = context.affordable(kVisitors * queries.size()) / queries.size();
  if (visitors < kLeastVisitors)
    return skipped(fmt::format("this address has {} requests left, which are not used up",
                               *context.requests_left));
  std::mutex mutex;  // of what follows
  std::map<std::string, size_t> wrong;
  size_t answered = 0;
  size_t limited = 0;
  const auto visit = [&] {
    Context own{context.site, context.questions, nullptr, context.stop};
    ReadyEvent session;
    std::string before;
    for (const std::string& query : queries) {
      const Said said = own.ask(query, query == before ? session : ReadyEvent());
      session = said.ready;
      before = query;
      const std::lock_guard lock(mutex);
      if (said.wrong.empty())
        ++answered;
      else if (said.limited)
        ++limited;
      else
        ++wrong[said.wrong];
    }
    const std::lock_guard lock(mutex);
    context.cited.merge(own.cited);
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

Verdict real_slugs(Context& context) {
  if (context.house == nullptr) {
    if (context.cited.empty()) return skipped("nothing was cited");
    if (auto wrong = context.without_page(context.cited)) return bad(*wrong);
    return ok(fmt::format("{} slugs that were cited here", context.cited.size()));
  }
  const auto slugs = context.house->store.all_shown_slugs();
  if (!slugs) return bad(in_words(slugs.error()));
  const auto documents = context.house->store.documents();
  if (!documents) return bad(in_words(documents.error()));
  if (slugs->empty()) return bad("no session was shown anything");
  std::set<std::string> indexed;
  for (const store::DocumentInfo& info : *documents) indexed.insert(info.document.slug);
  for (const std::string& slug : *slugs)
    if (!indexed.contains(slug)) return bad(fmt::format("{} is not", text::one_line(slug)));
  return ok(fmt::format("{} slugs of all sessions", slugs->size()));
}

struct Row {
  const char* name;
  Verdict (*check)(Context& context);
};

constexpr Row kRows[] = {
    {"what is this? is answered in a line", identity},
    {"what is asked about is cited", citation},
    {"what was shown is not cited again", memory},
    {"what is off topic is refused", refusal},
    {"what is not there is not made up", honesty},
    {"discover recommends others", recommendations},
    {"context has a hint, and keeps it at hand", hint},
    {"without its reranker it still cites", no_reranker},
    {"without its embedder it is a 503", no_embedder},
    {"visitors at once are all answered", crowd},
    {"every slug shown is in the index", real_slugs},
};

}  // namespace

std::vector<Checked> smoke(const Remote& site, const SmokeQuestions& questions,
                           const SmokeHouse* house, const std::function<void(const Checked&)>& told,
                           std::stop_token stop) {
  Context context{site, questions, house, std::move(stop)};
  std::vector<Checked> out;
  for (const Row& row : kRows) {
    Verdict verdict = row.check(context);
    if (context.stop.stop_requested()) break;
    out.push_back(
        {static_cast<int>(out.size()) + 1, row.name, verdict.how, text::one_line(verdict.detail)});
    told(out.back());
  }
  return out;
}

}  // namespace stoka::serve
